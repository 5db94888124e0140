/*
 * rooted.h - what Gather and Scatter over several nodes share: a *bundle* of
 * one node's blocks, between their places and a lane.
 *
 * A gate has a list of places: where the blocks of a node's members lie, or are
 * to lie. They may be in another member's memory (coll/lend.h). Large blocks go
 * one by one between their places, and no member copies them. Smaller ones go
 * side by side in one message.
 *
 * Both gates tell which from the blocks' sizes. In Gather and Scatter all know
 * these. In Gatherv and Scatterv a letter with the sizes goes first. It holds
 * the blocks as well, where they are small.
 */
#ifndef SW_MPI_SPAN_ROOTED_H
#define SW_MPI_SPAN_ROOTED_H

#include "bundle.h"

#include "coll/lend.h"

/* One call. */
typedef struct {
    sw_span_t *s;
    sw_gate_t gate;
    bool equal;   /* all know the sizes */
    size_t bytes; /* of this member's block */
    sw_mail_t mail;
    int rc;
} sw_rooted_t;

static inline void sw_rooted_note(sw_rooted_t *r, int status)
{
    r->rc = sw_await_first_bad(r->rc, status);
}

/* Blocks whose mean is so large go one by one: to copy one takes longer than to
 * send one more message. */
#define SW_ROOTED_LARGE ((size_t)32 << 10)

static inline bool sw_rooted_apart(size_t all, int count)
{
    return all / (size_t)count >= SW_ROOTED_LARGE;
}

/* How many blocks go between this gate and that of `node`. */
static inline int sw_rooted_blocks(const sw_rooted_t *r, int node)
{
    return sw_span_members(r->s, r->gate.is_home ? node : r->s->node);
}

/* Starts to send blocks to a node's gate. Returns what to free at the end. */
char *sw_rooted_send(sw_rooted_t *r, int node, const sw_spot_t *place);

/* Learns the sizes of the blocks that a node's gate sends, `came`. Returns its
 * letter, or NULL. */
char *sw_rooted_open(sw_rooted_t *r, int node, sw_spot_t *place);
/* Starts to receive them, and ends the letter. Returns the box in which they
 * will lie side by side behind room for their sizes; NULL: they go to their
 * places at once. */
char *sw_rooted_receive(sw_rooted_t *r, int node, const sw_spot_t *place,
                        char *letter);
/* Copies the blocks in a box to their places, and frees it. */
void sw_rooted_unpack(const sw_rooted_t *r, int node, const sw_spot_t *place,
                      char *box);
/* The bytes of the sizes in a letter or a box. */
static inline size_t sw_rooted_head(const sw_rooted_t *r, int node)
{
    return r->equal ? 0 : (size_t)sw_rooted_blocks(r, node) * sizeof(uint64_t);
}

/* The root's node: the blocks of all other nodes' members, by node. */
static inline int sw_rooted_far(const sw_rooted_t *r)
{
    return r->s->n - r->s->here;
}

/* Where another node's blocks begin among them. */
static inline int sw_rooted_first(const sw_rooted_t *r, int node)
{
    return r->s->first[node] - (node > r->s->node ? r->s->here : 0);
}

/* The rank of the i-th of them. */
static inline int sw_rooted_rank(const sw_rooted_t *r, int i)
{
    return r->s->rank[i < r->s->first[r->s->node] ? i : i + r->s->here];
}

/* The root lists the places of these in its buffer. What has gaps, and what is
 * small and goes to another gate, has a place in memory that stands in. Returns
 * that, or NULL. `filled`: with the blocks. */
char *sw_rooted_list(const sw_rooted_t *r, const void *buffer,
                     const sw_blocks_t *blocks, sw_spot_t *place, bool filled);

/* The bytes that this process's gates have sent and received so far, and those
 * of them that they copied. */
void sw_rooted_counts(int64_t *moved, int64_t *copied);

#endif
