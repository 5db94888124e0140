/*
 * between.c - bytes of a collective that go to or come from other nodes; see
 * traffic.h.
 *
 * They follow from the call's arguments and from where the members are, however
 * a library moves the data. A block that a member on another node gets or gives
 * counts. Data that several members get (a bcast's, say) counts once where one
 * of them is on another node. A result counts once where one of the members
 * that contribute to it is.
 */
#include "traffic.h"

/* Which members a buffer's data goes to, or comes from. */
typedef enum {
    NOBODY,
    ANY, /* all of it to all others, or from all others */
    ROOT,
    BLOCKS, /* a block for each member */
    LATER,  /* all of it to those of higher rank */
    EARLIER,
    OUT_ANY, /* the same for neighbours */
    OUT_BLOCKS,
    IN_BLOCKS,
} way_t;

typedef struct {
    uint8_t sent, received;
} ways_t;

/* For collectives with a root: on the root, and on the others. */
static const ways_t on_root[SW_COLL_COUNT] = {
    [SW_COLL_BCAST] = {ANY, NOBODY},      [SW_COLL_REDUCE] = {NOBODY, ANY},
    [SW_COLL_GATHER] = {NOBODY, BLOCKS},  [SW_COLL_GATHERV] = {NOBODY, BLOCKS},
    [SW_COLL_SCATTER] = {BLOCKS, NOBODY}, [SW_COLL_SCATTERV] = {BLOCKS, NOBODY},
};
static const ways_t on_others = {ROOT, ROOT};

static const ways_t on_all[SW_COLL_COUNT] = {
    [SW_COLL_ALLREDUCE] = {ANY, ANY},
    [SW_COLL_REDUCE_SCATTER] = {BLOCKS, ANY},
    [SW_COLL_REDUCE_SCATTER_BLOCK] = {BLOCKS, ANY},
    [SW_COLL_SCAN] = {LATER, EARLIER},
    [SW_COLL_EXSCAN] = {LATER, EARLIER},
    [SW_COLL_ALLGATHER] = {ANY, BLOCKS},
    [SW_COLL_ALLGATHERV] = {ANY, BLOCKS},
    [SW_COLL_ALLTOALL] = {BLOCKS, BLOCKS},
    [SW_COLL_ALLTOALLV] = {BLOCKS, BLOCKS},
    [SW_COLL_ALLTOALLW] = {BLOCKS, BLOCKS},
    [SW_COLL_NEIGHBOR_ALLGATHER] = {OUT_ANY, IN_BLOCKS},
    [SW_COLL_NEIGHBOR_ALLGATHERV] = {OUT_ANY, IN_BLOCKS},
    [SW_COLL_NEIGHBOR_ALLTOALL] = {OUT_BLOCKS, IN_BLOCKS},
    [SW_COLL_NEIGHBOR_ALLTOALLV] = {OUT_BLOCKS, IN_BLOCKS},
    [SW_COLL_NEIGHBOR_ALLTOALLW] = {OUT_BLOCKS, IN_BLOCKS},
};

/* The part of `bytes`, in n blocks, whose members are on other nodes. The ith
 * block is that of member[i]; NULL: of member i. */
static uint64_t blocks_away(const sw_known_comm_t *c, uint64_t bytes,
                            const sw_moves_data_t *d, int n, const int *member)
{
    uint64_t all = 0, each = n > 0 ? bytes / (uint64_t)n : 0;
    for (int i = 0; i < n; i++) {
        if (!sw_known_is_away(c, member ? member[i] : i))
            continue;
        all += d ? (uint64_t)sw_counts_at(d->counts, i) *
                       sw_known_type(d->types ? d->types[i] : d->type)->size
                 : each;
    }
    return all;
}

static bool any_away(const sw_known_comm_t *c, const int *member, int n)
{
    for (int i = 0; i < n; i++)
        if (sw_known_is_away(c, member[i]))
            return true;
    return false;
}

static uint64_t part(const sw_known_comm_t *c, way_t way, int root,
                     uint64_t bytes, const sw_moves_data_t *d)
{
    const int *out = c->in ? c->in + c->ins : NULL;
    if (!bytes)
        return 0;
    switch (way) {
    case ANY: return bytes;
    case ROOT: return sw_known_is_away(c, root) ? bytes : 0;
    case LATER: return c->last_away > c->me ? bytes : 0;
    case EARLIER: return c->first_away < c->me ? bytes : 0;
    case BLOCKS:
        return !d ? bytes / (uint64_t)c->targets * (uint64_t)c->away
                  : blocks_away(c, bytes, d, c->targets, NULL);
    case OUT_ANY: return out && any_away(c, out, c->outs) ? bytes : 0;
    case OUT_BLOCKS: return out ? blocks_away(c, bytes, d, c->outs, out) : 0;
    case IN_BLOCKS: return c->in ? blocks_away(c, bytes, d, c->ins, c->in) : 0;
    case NOBODY: break;
    }
    return 0;
}

static void add(sw_event_t *e, sw_collective_t what, int root,
                uint64_t sent_bytes, uint64_t received_bytes,
                const sw_moves_data_t *sent, const sw_moves_data_t *received)
{
    const sw_known_comm_t *c = e->comm;
    bool rooted = on_root[what].sent || on_root[what].received;
    ways_t ways = !rooted                     ? on_all[what]
                  : sw_moves_is_root(c, root) ? on_root[what]
                                              : on_others;
    if (ways.sent == BLOCKS && ways.received == BLOCKS && !sent)
        sent = received; /* in place */
    if (ways.received == ANY && c->inter)
        sent = NULL; /* a reduce_scatter's are the own group's */
    e->amount.sent_between += part(c, (way_t)ways.sent, root, sent_bytes, sent);
    e->amount.received_between += part(c, (way_t)ways.received, root,
                                       received_bytes, received);
}

void sw_collective_between(sw_event_t *e, sw_collective_t what, int root,
                           const sw_moves_data_t *sent,
                           const sw_moves_data_t *received)
{
    add(e, what, root, e->amount.sent, e->amount.received, sent, received);
}

void sw_record_between_again(sw_event_t *e, const sw_pending_t *p)
{
    if (e->comm->away)
        add(e, (sw_collective_t)p->tag, p->peer, p->sent, p->received, NULL,
            NULL);
}
