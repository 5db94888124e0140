/*
 * group.h - the members of a communicator that share a node, and the block of
 * shared memory where they meet.
 *
 * Block (in the leader's control segment; one writer per lane):
 *
 *   +-------------+---------+---------+-----+-----------+-----------+-----+
 *   | sw_block_t  | lane 0  | lane 1  | ... | staging 0 | staging 1 | ... |
 *   | (one pair)  |         |         |     | (pages)   |           |     |
 *   +-------------+---------+---------+-----+-----------+-----------+-----+
 *
 * Lane: what one member says to the others.
 *
 *   0    done (8)  doorbell: event (4) sleepers (4)          one line pair
 *   64   touching (4)
 *   128  ring[0]   seq (8) what (4) form (2) place (2) bytes (8) data (104)
 *   256  ring[1]   ...
 *
 * Collectives on a communicator happen in one order on all members, so every
 * member numbers them alike: step s. In a step a member may post one entry,
 * in ring[s mod ring], and at its end it stores done = s. Nothing else is ever
 * written by two processes, and no read-modify-write happens on the way.
 *
 * Staging: a member's ring of bytes for payloads that do not fit an entry,
 * handed out in order, a cache line at least, never across the end.
 *
 * Protocol and memory order:
 *   - post: the entry's fields, then seq = s (release). A reader that loads
 *     seq == s (acquire) sees the fields, the staged bytes and, for a part,
 *     the member's own memory as it was.
 *   - done = s (release) comes after all the member's reads of step s: who
 *     loads done >= s (acquire) may overwrite what was read.
 *   - reuse: ring[s mod ring] was last used in a step u <= s - ring. It is
 *     overwritten only when every reader of step u has done >= u. A member
 *     that posts step s has itself finished s - 1, so seeing all entries of a
 *     symmetric step is an acknowledgement of the one before, and streams of
 *     rooted steps look at the done words only once per turn of the ring.
 *     Staged bytes are reused by the same rule.
 *   - no cycle: a wait in step s is for posts of step s, or for done of steps
 *     before s, or for done of s by members who need nothing more from the
 *     waiter, or for a packer, who waits for nobody (packing.h). By induction
 *     over s all of them come.
 *
 * A member that gives up. A wait that lasts may find that a member has died or
 * that the communicator was revoked (mpi/base/failure.h). The waiter then sets
 * its own `broken`: its other waits end at once, and it returns SW_BROKEN.
 * What it posts from then on may be wrong, and the memory that it has offered
 * is its program's again; but a member that knows nothing yet may be about to
 * use it:
 *   - A member that reads looks afterwards at block->given_up, in sw_done. The
 *     leaver stores given_up before it posts, is done or returns, so a reader
 *     that has seen anything from then on also loads given_up, and fails.
 *   - A member that writes (in a gather, or a reduction into another's result)
 *     must not be late at all. The writer stores `touching` in its lane, then
 *     looks at given_up; the leaver stores given_up, then waits until every
 *     living member's `touching` is zero. Both pairs are sequentially
 *     consistent, so one of the two sees the other.
 * A member that has not heard of the failure finds given_up, or asks the host
 * itself: what it waits for is a member that has died or given up.
 *
 * Payloads travel in one of the forms of node/peer.h: inside the entry, in the
 * member's staging ring (the sender may return at once), or from the user's
 * memory itself or what it is packed into (the sender stays until the readers
 * are done). The sender alone chooses; the readers follow the entry.
 */
#ifndef SW_COLL_GROUP_H
#define SW_COLL_GROUP_H

#include "layout/data.h"
#include "node/base/array.h"
#include "node/peer.h"
#include "node/wait.h"
#include "topology/location.h"
#include "topology/tree.h"
#include "neighbours.h"

#define SW_INLINE_MAX 104   /* payload bytes inside an entry               */
#define SW_RING_MAX 32      /* entries of a ring, at most                  */
#define SW_AHEAD 4          /* entries whose lines are fetched in advance  */
#define SW_FLAT 16          /* members up to which small steps need no tree */
#define SW_FANOUT 8         /* children per node of a tree                 */
#define SW_MEMBERS_MAX 1024
/* Children of a member, at most. A level of the machine takes at most 4 rounds
 * to cut 1,024 members into chunks of 8, and each round gives a leader 7
 * children; there are 4 levels (topology/tree.h). Another root adds one. */
#define SW_CHILDREN 128

/* What a coll function returns besides 0. */
enum {
    SW_OK = 0,
    SW_TRUNCATED,   /* a member sent more than was to be received          */
    SW_MISMATCH,    /* members called different collectives or roots       */
    SW_UNREACHABLE, /* a copy that was probed at start failed (errno)      */
    SW_BROKEN,      /* a member has died, or the communicator was revoked  */
};

typedef struct {
    _Atomic uint64_t seq;   /* the step whose entry this is                */
    uint32_t what;          /* sw_what(): collective and root, for checks  */
    uint16_t form;          /* sw_form_t of the payload                    */
    uint16_t place;         /* in the staging ring, in lines, if used      */
    uint64_t bytes;         /* of the payload                              */
    union {
        char data[SW_INLINE_MAX];
        struct {
            sw_part_t send; /* memory the others may read                  */
            sw_part_t recv; /* memory the others may write                 */
        };
        sw_shown_t shown;   /* data with gaps that the others may read     */
    };
} sw_entry_t;

typedef struct {
    _Atomic uint64_t done;  /* all my reads up to this step are over       */
    sw_doorbell_t doorbell;
    char pad[SW_LINE - 16];
    _Atomic uint32_t touching;  /* I write into another member's memory    */
    char pad2[SW_LINE - 4];
    sw_entry_t ring[];
} sw_group_lane_t;

_Static_assert(sizeof(sw_entry_t) == SW_PAIR, "an entry is a line pair");
_Static_assert(sizeof(sw_group_lane_t) == SW_PAIR, "entries start on a pair");

/* Who reads an entry: all members, one of them, those that the neighbours'
 * list of the group names, or a tree's children. */
#define SW_READ_ALL (-1)
#define SW_READ_NEIGHBOURS INT32_MIN
#define SW_READ_CHILDREN(root) (-2 - (root))

typedef struct {
    uint64_t step;          /* last step that used the slot; 0: none       */
    int32_t readers;
} sw_use_t;

/* A stretch of the staging ring that is in use. Positions count bytes from the
 * start of time; they lie at position mod ring size. */
typedef struct {
    uint64_t end;
    sw_use_t use;
} sw_staged_t;

typedef struct {
    int n, me;
    uint32_t mask;          /* ring size - 1                               */
    bool arena;             /* every member maps every member's arena      */
    bool cma;               /* every member can read every member by CMA   */
    bool crowded;           /* more ranks than cores, says the leader      */
    bool broken;            /* this member has given up, or has to         */
    uint64_t step;          /* last step begun                             */
    uint64_t acked;         /* every member is done with it                */
    char *lanes;
    size_t lane_bytes;
    char *staging;
    size_t stage_bytes;     /* of a member's staging ring                  */
    size_t stage_max;       /* largest payload that is staged              */
    size_t eager;           /* payloads of rooted collectives up to this
                               are copied, at most stage_max               */
    size_t eager_all;       /* likewise where all wait for all             */
    size_t slice;           /* vectors from this on are reduced in slices:
                               the leader's setting, at most stage_max + 1 */
    sw_peer_t **peer;       /* [n]                                         */
    sw_block_t *block;
    sw_tree_t *tree;        /* follows the machine; NULL up to SW_FLAT     */
    sw_tree_t *ordered;     /* contiguous ranks, for non-commutative ops   */
    const sw_neighbours_t *neighbours;  /* the caller's, set once          */
    uint64_t *known;        /* [n] latest done seen of each member         */
    sw_use_t *ring_use;     /* [ring]                                      */
    sw_staged_t staged[SW_RING_MAX];    /* in use, oldest first, circular  */
    unsigned staged_first, staged_count;
    uint64_t stage_head, stage_tail;    /* positions                       */
    char *scratch;
    size_t scratch_bytes;
    sw_entry_t nowhere;     /* what a broken member writes goes here ...   */
    char *no_stage;         /* ... and here                                */
} sw_group_t;

/* Making a group ------------------------------------------------------ */

/* What each member tells the others before a group is made: exchanged by the
 * caller (through the host). */
typedef struct {
    sw_card_t card;
    sw_location_t where;
    int32_t virtual_node;   /* members of different ones do not share      */
    uint32_t version;
    uint64_t eager, slice;  /* settings, of which the leader's count       */
} sw_introduction_t;

/* What each member answers, exchanged likewise; all must agree. */
typedef struct {
    uint64_t offset;        /* leader: its block; others: 0                */
    uint32_t ok;            /* bit SW_AGREE_*                              */
    uint32_t crowded;       /* leader: more ranks than cores               */
} sw_group_answer_t;

enum { SW_AGREE_NODE = 1, SW_AGREE_ARENA = 2, SW_AGREE_CMA = 4,
       SW_AGREE_BLOCK = 8 };

SW_API bool sw_group_introduce(sw_introduction_t *to, int virtual_node);

/* Having all introductions: attach the members, and if me is 0, take a block.
 * Fills `peer` (n pointers) and the answer. */
SW_API void sw_group_answer(const sw_introduction_t *all, int n, int me,
                            sw_peer_t **peer, sw_group_answer_t *to);

/* Having all answers: the group, or NULL with *why (static text) set when the
 * members commonly decide that the host serves. Takes `peer` over (malloced)
 * when it succeeds. */
SW_API sw_group_t *sw_group_open(const sw_introduction_t *all,
                                 const sw_group_answer_t *answers, int n,
                                 int me, sw_peer_t **peer, const char **why);
/* The `why` of a full pool, to be told apart from the others. */
SW_API extern const char *const sw_group_full;

/* This member is broken and returns from a collective for the last time: from
 * here on the others leave its memory alone. */
SW_API void sw_group_give_up(sw_group_t *group);

/* Leave the group: no wait, no message. */
SW_API void sw_group_close(sw_group_t *group);

/* Bytes of a block for n members, and of its zeroed first part. */
SW_API size_t sw_group_bytes(int n, size_t *zeroed);

/* Steps ---------------------------------------------------------------- */

static inline uint32_t sw_what(int collective, int root)
{
    return (uint32_t)collective << 24 | ((uint32_t)root & 0xffffff);
}

/* The k-th member to the right: who goes round the members starts there, so
 * that not all begin with the same one. 0 < k < n. */
static inline int sw_neighbour(const sw_group_t *g, int k)
{
    int member = g->me + k;
    return member < g->n ? member : member - g->n;
}

static inline sw_group_lane_t *sw_lane(const sw_group_t *g, int member)
{
    return (sw_group_lane_t *)(g->lanes + (size_t)member * g->lane_bytes);
}

static inline sw_entry_t *sw_entry(const sw_group_t *g, int member,
                                   uint64_t step)
{
    return &sw_lane(g, member)->ring[step & g->mask];
}

static inline char *sw_staged(const sw_group_t *g, int member, unsigned place)
{
    return g->staging + (size_t)member * g->stage_bytes +
           (size_t)place * SW_LINE;
}

/* A member has not posted what this one expects: SW_MISMATCH, or SW_BROKEN if a
 * member has given up. */
static inline int sw_mismatch(sw_group_t *g)
{
    if (atomic_load(&g->block->given_up))
        g->broken = true;
    return g->broken ? SW_BROKEN : SW_MISMATCH;
}

/* Slow paths, in group.c. */
void sw_reuse_wait(sw_group_t *g, const sw_use_t *use);
int sw_await_slow(sw_group_t *g, int member, uint64_t step);

/* My entry of this step, free to be written. */
static inline sw_entry_t *sw_claim(sw_group_t *g, uint64_t step, int readers)
{
    sw_use_t *use = &g->ring_use[step & g->mask];
    if (sw_unlikely(use->step > g->acked)) {
        sw_reuse_wait(g, use);
        if (sw_unlikely(g->broken))
            return &g->nowhere;
    }
    use->step = step;
    use->readers = readers;
    /* The lines of the entries to come are still in their readers' caches. A
     * stream of small steps would wait for each in turn: stores leave in
     * order, and the next call's stand behind them. Not where the readers may
     * still need them. */
    const sw_use_t *next = &g->ring_use[(step + SW_AHEAD) & g->mask];
    if (next->step <= (next->readers >= 0 ? g->known[next->readers]
                                          : g->acked)) {
        const char *ahead = (const char *)sw_entry(g, g->me, step + SW_AHEAD);
        sw_prefetch_write(ahead);
        sw_prefetch_write(ahead + SW_LINE);
    }
    return sw_entry(g, g->me, step);
}

/* Fetch a later entry of a member that is likely to have run ahead, as much of
 * it as its last payload took. */
static inline void sw_read_ahead(const sw_group_t *g, int member,
                                 uint64_t step, uint64_t bytes)
{
    const char *next = (const char *)sw_entry(g, member, step + 2);
    __builtin_prefetch(next);
    if (bytes > SW_LINE - offsetof(sw_entry_t, data))
        __builtin_prefetch(next + SW_LINE);
}

/* Room for n <= stage_max bytes in my staging ring, free to be written; its
 * place goes into the entry. At most once per step. */
char *sw_claim_stage(sw_group_t *g, uint64_t step, int readers, size_t n,
                     sw_entry_t *entry);

static inline void sw_post(sw_group_t *g, sw_entry_t *entry, uint64_t step)
{
    if (sw_unlikely(g->broken))
        atomic_store(&g->block->given_up, 1);
    atomic_store_explicit(&entry->seq, step, memory_order_release);
    sw_doorbell_ring(&sw_lane(g, g->me)->doorbell);
}

/* Wait for a member's entry of this step. */
static inline const sw_entry_t *sw_await(sw_group_t *g, int member,
                                         uint64_t step, int *status)
{
    sw_entry_t *e = sw_entry(g, member, step);
    for (int i = 0; i < sw_wait_spins; i++)
        if (sw_likely(atomic_load_explicit(&e->seq, memory_order_acquire) ==
                      step))
            return e;
    int rc = sw_await_slow(g, member, step);
    if (rc)
        *status = rc;
    return rc ? NULL : e;
}

static inline void sw_done(sw_group_t *g, uint64_t step)
{
    sw_group_lane_t *mine = sw_lane(g, g->me);
    if (sw_unlikely(g->broken))
        atomic_store(&g->block->given_up, 1);
    atomic_store_explicit(&mine->done, step, memory_order_release);
    sw_doorbell_ring(&mine->doorbell);
    /* After the reads of this step: were they of memory still offered? */
    atomic_thread_fence(memory_order_acquire);
    if (sw_unlikely(atomic_load_explicit(&g->block->given_up,
                                         memory_order_relaxed)))
        g->broken = true;
}

/* Before and after writing into another member's memory. False: it may be
 * offered no more. */
static inline bool sw_touch(sw_group_t *g)
{
    sw_group_lane_t *mine = sw_lane(g, g->me);
    atomic_store(&mine->touching, 1);
    if (sw_likely(!atomic_load(&g->block->given_up)))
        return true;
    atomic_store(&mine->touching, 0);
    g->broken = true;
    return false;
}

static inline void sw_touched(sw_group_t *g)
{
    atomic_store_explicit(&sw_lane(g, g->me)->touching, 0,
                          memory_order_release);
}

/* Wait until a member is done with this step. What was seen last is kept: a
 * stream of steps reads the member's done word only now and then, and does
 * not take its cache line away at each of its stores. */
static inline void sw_await_done(sw_group_t *g, int member, uint64_t step)
{
    if (g->known[member] >= step)
        return;
    sw_group_lane_t *lane = sw_lane(g, member);
    uint64_t done = 0;
    SW_WAIT_UNLESS(g->broken,
                   (done = atomic_load_explicit(&lane->done,
                                                memory_order_acquire)) >=
                       step,
                   &lane->doorbell);
    g->known[member] = done;
}

/* Wait until all others are done with this step. */
static inline void sw_await_done_all(sw_group_t *g, uint64_t step)
{
    for (int k = 1; k < g->n; k++)
        sw_await_done(g, sw_neighbour(g, k), step);
    if (sw_likely(!g->broken))
        g->acked = step;
}

/* Working memory of at least n bytes, kept by the group. NULL: no memory. */
char *sw_scratch(sw_group_t *g, size_t n);

#endif
