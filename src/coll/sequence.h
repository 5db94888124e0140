/*
 * sequence.h - collectives of a team, numbered in their order, and the block of
 * shared memory in which the members carry them out.
 *
 * A team may have several sequences. Each has a block of its own, so that a
 * step of one sequence waits for no step of another: a member may start
 * collectives on two sequences in the opposite order of its peers. One thread
 * at a time uses a member's end of a sequence; different sequences may be used
 * by different threads.
 *
 * Block (in the leader's control segment; one writer per column):
 *
 *   +------------+----------+-----+-----------+-----+-------+-------+-----+
 *   | sw_block_t | column 0 | ... | staging 0 | ... | box 0 | box 1 | ... |
 *   | (one pair) |          |     | (pages)   |     |       |       |     |
 *   +------------+----------+-----+-----------+-----+-------+-------+-----+
 *
 * Column: what one member tells the others.
 *
 *   0    done (8)  doorbell: event (4) sleepers (4)          one line pair
 *   64   touching (4)
 *   128  ask: what it asks of another member (ask.h)
 *   256  entry[0]  posted (8) what (4) form (2) place (2) bytes (8) data (104)
 *   384  entry[1]  ...
 *
 * All members call the collectives of a sequence in one order, so all number
 * them alike: step s. In a step a member may post one entry, in
 * entry[s mod depth]. At the end of the step it stores done = s. No two
 * processes write the same word, and no step needs a read-modify-write.
 *
 * Staging: a member's circular store for payloads that do not fit an entry.
 * The member hands it out in order, in whole cache lines, never across the
 * end.
 *
 * Protocol and memory order:
 *   - post: the member stores the entry's fields, then posted = s (release). A
 *     reader that loads posted == s (acquire) sees the fields and the staged
 *     bytes. For a part it sees the member's own memory as it was.
 *   - done = s (release) comes after all the member's reads of step s. A
 *     member that loads done >= s (acquire) may overwrite what was read.
 *   - reuse: a step u <= s - depth last used entry[s mod depth]. The member
 *     overwrites it only when every reader of step u has done >= u. A member
 *     that posts step s has itself finished s - 1. So a member that sees all
 *     entries of a symmetric step knows that all are done with the step
 *     before. Streams of rooted steps read the done words only once per turn
 *     of a column. The same rule governs staged bytes.
 *   - no cycle: a wait in step s is for posts of step s, or for done of a
 *     step before s. It may also be for done of s by a member that needs
 *     nothing more from the waiter. Or it is for a packer, which itself waits
 *     for no member (packing.h). By induction over s, every wait ends.
 *
 * A member that gives up. A member in a long wait may learn that a member has
 * died or that the communicator was revoked (mpi/base/failure.h). It then sets
 * its own `broken`: its other waits end at once, and it returns SW_BROKEN.
 * What it posts from then on may be wrong, and its program owns again the
 * memory that it has offered. But a member that knows nothing yet may be about
 * to use that memory:
 *   - A member that reads looks afterwards at block->given_up, in
 *     sw_sequence_done. The leaver stores given_up before it posts, is done or
 *     returns, with a release fence before it returns. So a reader that saw
 *     anything from then on also loads given_up, and fails.
 *   - A member that writes (in a gather, or a reduction into another's result)
 *     must not be late at all. The writer stores `touching` in its column, then
 *     looks at given_up. The leaver stores given_up, then waits until every
 *     living member's `touching` is zero. Both pairs are sequentially
 *     consistent, so one of the two sees the other.
 * A member that has not heard of the failure waits for a member that has died
 * or given up: it finds given_up, or asks the host itself. All this is per
 * sequence, since a sequence's block and memory are its own. A member that
 * gives up its communicator gives up each of its sequences.
 *
 * Payloads travel in one of the forms of node/peer.h. Those inside the entry
 * or in the staging let the sender return at once. Those in the user's own
 * memory, or in what it was packed into, keep the sender until the readers are
 * done. The sender alone chooses; the readers follow the entry.
 */
#ifndef SW_COLL_SEQUENCE_H
#define SW_COLL_SEQUENCE_H

#include "layout/data.h"
#include "node/base/array.h"
#include "node/wait.h"
#include "neighbours.h"
#include "scratch.h"
#include "team.h"

#define SW_INLINE_MAX 104 /* payload bytes inside an entry */
#define SW_DEPTH_MAX 32   /* entries of a column, at most */
#define SW_AHEAD 4        /* entries whose lines are fetched in advance */

/* What a coll function returns besides 0. */
enum {
    SW_OK = 0,
    SW_TRUNCATED,   /* a member sent more than the receiver has room for */
    SW_MISMATCH,    /* members called different collectives or roots */
    SW_UNREACHABLE, /* what a member posted does not make sense */
    SW_NO_ROOM,     /* no memory */
    SW_BROKEN,      /* a member has died, or the communicator was revoked */
};

typedef struct {
    _Atomic uint64_t posted; /* the step whose entry this is */
    uint32_t what;  /* sw_sequence_what(): collective and root, for checks */
    uint16_t form;  /* sw_form_t of the payload */
    uint16_t place; /* in the staging, in lines, if used */
    uint64_t bytes; /* of the payload */
    union {
        char data[SW_INLINE_MAX];
        struct {
            sw_part_t send; /* memory the others may read */
            sw_part_t recv; /* memory the others may write */
        };
        sw_shown_t shown; /* data with gaps that the others may read */
    };
} sw_entry_t;

/* A member's question to the owner of memory: see ask.h. */
#define SW_ASK_BYTES 8192 /* that one question is about, at most */

typedef struct {
    _Atomic uint64_t asked;  /* its number and the owner's, by the asker */
    uint64_t address, bytes; /* of the owner's memory */
    uint64_t writes;
    char pad[SW_LINE - 32];
    _Atomic uint64_t answered; /* the same word, by the owner */
    char pad2[SW_LINE - 8];
} sw_ask_t;

/* What went wrong in a step (see sw_sequence_fail). A member that runs ahead
 * may have failed in later ones, too. */
#define SW_FAILURES 4

typedef struct {
    _Atomic uint64_t done; /* all my reads up to this step are over */
    sw_doorbell_t doorbell;
    _Atomic uint64_t failed[SW_FAILURES];
    char pad[SW_LINE - 16 - 8 * SW_FAILURES];
    _Atomic uint32_t touching; /* I write into another member's memory */
    char pad2[SW_LINE - 4];
    sw_ask_t ask;
    sw_entry_t entry[];
} sw_sequence_column_t;

_Static_assert(sizeof(sw_entry_t) == SW_PAIR, "an entry is a line pair");
_Static_assert(sizeof(sw_sequence_column_t) == 2 * SW_PAIR,
               "entries start on a pair");

/* The readers of an entry: all members, one of them, those in the sequence's
 * list of neighbours, or a tree's children. */
#define SW_READ_ALL (-1)
#define SW_READ_NEIGHBOURS INT32_MIN
#define SW_READ_CHILDREN(root) (-2 - (root))

typedef struct {
    uint64_t step; /* last step that used the entry; 0: none */
    int32_t readers;
} sw_use_t;

/* A stretch of the staging that is in use. Positions count bytes from the
 * start of time; they lie at position mod the staging's size. */
typedef struct {
    uint64_t end;
    sw_use_t use;
} sw_staged_t;

/* A member's end of a sequence, in its private memory.
 *
 *   0    what every step of every collective reads           one line
 *   64   what claiming, staging and reading a payload need   one line
 *   128  the rest
 */
typedef struct {
    sw_team_t *team;
    int n, me;      /* the team's */
    uint32_t mask;  /* depth of a column - 1 */
    bool broken;    /* this member has given up, or has to */
    uint64_t step;  /* last step begun */
    uint64_t acked; /* every member is done with it */
    char *columns;
    size_t column_bytes;
    sw_sequence_column_t *mine; /* this member's column */
    sw_block_t *block;
    sw_use_t *use;    /* [depth] of my entries */
    uint64_t *known;  /* [n] latest done seen of each member */
    sw_peer_t **peer; /* the team's */
    char *staging;
    size_t stage_bytes;                /* of a member's staging */
    uint64_t stage_head, stage_tail;   /* positions */
    const sw_neighbours_t *neighbours; /* the caller's, set once */
    sw_scratch_t scratch;
    char *boxes;        /* of what members ask for */
    char *no_stage;     /* what a broken member stages goes here ... */
    sw_entry_t nowhere; /* ... and what it posts, here */
    unsigned staged_first, staged_count;
    sw_staged_t staged[SW_DEPTH_MAX]; /* in use, oldest first, circular */
} sw_sequence_t;

_Static_assert(offsetof(sw_sequence_t, block) == SW_LINE &&
                   offsetof(sw_sequence_t, neighbours) == 2 * SW_LINE,
               "what a step reads is in the first two lines");

/* Making a sequence -------------------------------------------------------- */

/* Takes a block for a sequence of n members from this process's pool and
 * returns its offset, or 0 where the pool is full. The leader calls it and
 * tells the others the offset. */
SW_API uint64_t sw_sequence_reserve(int n);

/* Returns a block that the leader reserved and that no member has opened. */
SW_API void sw_sequence_unreserve(sw_peer_t *leader, uint64_t offset);

/* Opens this member's end of the sequence at `offset` of the leader's segment,
 * and holds the team. Every member opens it once. Ends the process where memory
 * runs out, since the others rely on it by now. */
SW_API sw_sequence_t *sw_sequence_open(sw_team_t *team, uint64_t offset);

/* A broken member returns from a collective for the last time: from here on
 * the others leave alone the memory that it offered in this sequence. */
SW_API void sw_sequence_give_up(sw_sequence_t *seq);

/* Leaves the sequence: no wait, no message. */
SW_API void sw_sequence_close(sw_sequence_t *seq);

/* Bytes of a sequence's block for n members, and of its zeroed first part. */
SW_API size_t sw_sequence_bytes(int n, size_t *zeroed);

/* Steps ---------------------------------------------------------------- */

static inline uint32_t sw_sequence_what(int collective, int root)
{
    return (uint32_t)collective << 24 | ((uint32_t)root & 0xffffff);
}

/* The k-th member to the right. A member that visits all the others starts at
 * its right, so that not all begin with the same one. 0 < k < n. */
static inline int sw_sequence_right(const sw_sequence_t *seq, int k)
{
    int member = seq->me + k;
    return member < seq->n ? member : member - seq->n;
}

static inline sw_sequence_column_t *sw_sequence_column(const sw_sequence_t *seq,
                                                       int member)
{
    return (sw_sequence_column_t *)(seq->columns +
                                    (size_t)member * seq->column_bytes);
}

static inline sw_entry_t *sw_sequence_entry(const sw_sequence_t *seq,
                                            int member, uint64_t step)
{
    return &sw_sequence_column(seq, member)->entry[step & seq->mask];
}

static inline char *sw_sequence_staged(const sw_sequence_t *seq, int member,
                                       unsigned place)
{
    return seq->staging + (size_t)member * seq->stage_bytes +
           (size_t)place * SW_LINE;
}

/* What a member asks for passes through its box. */
static inline char *sw_sequence_box(const sw_sequence_t *seq, int member)
{
    return seq->boxes + (size_t)member * SW_ASK_BYTES;
}

/* Names what is wrong where a member has posted something unexpected:
 * SW_BROKEN if a member has given up, else SW_MISMATCH. */
static inline int sw_sequence_mismatch(sw_sequence_t *seq)
{
    if (atomic_load(&seq->block->given_up))
        seq->broken = true;
    return seq->broken ? SW_BROKEN : SW_MISMATCH;
}

/* Slow paths, in sequence.c. */
void sw_sequence_await_reuse(sw_sequence_t *seq, const sw_use_t *use);
int sw_sequence_await_slow(sw_sequence_t *seq, int member, uint64_t step);
void sw_sequence_answer_slow(const sw_sequence_t *seq); /* in ask.c */

/* Answers what members have asked of this one: every wait in which this
 * member's memory may be offered does so. True, for their conditions. */
static inline bool sw_sequence_answered(const sw_sequence_t *seq)
{
    if (sw_unlikely(
            atomic_load_explicit(&seq->block->asks, memory_order_acquire)))
        sw_sequence_answer_slow(seq);
    return true;
}

/* My entry of this step, free for writing. */
static inline sw_entry_t *sw_sequence_claim(sw_sequence_t *seq, uint64_t step,
                                            int readers)
{
    sw_use_t *use = &seq->use[step & seq->mask];
    if (sw_unlikely(use->step > seq->acked)) {
        sw_sequence_await_reuse(seq, use);
        if (sw_unlikely(seq->broken))
            return &seq->nowhere;
    }
    use->step = step;
    use->readers = readers;
    /* The lines of the entries to come are still in their readers' caches. A
     * stream of small steps would wait for each in turn: stores leave in
     * order, and the next call's stand behind them. So the member fetches
     * them in advance, except where the readers may still need them. */
    const sw_use_t *next = &seq->use[(step + SW_AHEAD) & seq->mask];
    if (next->step <=
        (next->readers >= 0 ? seq->known[next->readers] : seq->acked)) {
        const char *ahead = (const char *)&seq->mine
                                ->entry[(step + SW_AHEAD) & seq->mask];
        sw_prefetch_write(ahead);
        sw_prefetch_write(ahead + SW_LINE);
    }
    return &seq->mine->entry[step & seq->mask];
}

/* Fetches a later entry of a member that is likely to have run ahead, as much
 * of it as its last payload took. */
static inline void sw_sequence_read_ahead(const sw_sequence_t *seq, int member,
                                          uint64_t step, uint64_t bytes)
{
    const char *next = (const char *)sw_sequence_entry(seq, member, step + 2);
    __builtin_prefetch(next);
    if (bytes > SW_LINE - offsetof(sw_entry_t, data))
        __builtin_prefetch(next + SW_LINE);
}

/* Room for n <= stage_max bytes in my staging, free for writing; its place
 * goes into the entry. At most once per step. */
char *sw_sequence_claim_stage(sw_sequence_t *seq, uint64_t step, int readers,
                              size_t n, sw_entry_t *entry);

static inline void sw_sequence_post(sw_sequence_t *seq, sw_entry_t *entry,
                                    uint64_t step)
{
    if (sw_unlikely(seq->broken))
        atomic_store(&seq->block->given_up, 1);
    atomic_store_explicit(&entry->posted, step, memory_order_release);
    sw_doorbell_ring(&seq->mine->doorbell);
}

/* Waits for a member's entry of this step. */
static inline const sw_entry_t *sw_sequence_await(sw_sequence_t *seq,
                                                  int member, uint64_t step,
                                                  int *status)
{
    sw_entry_t *e = sw_sequence_entry(seq, member, step);
    for (int i = 0; i < sw_wait_spins; i++)
        if (sw_likely(atomic_load_explicit(&e->posted, memory_order_acquire) ==
                      step))
            return e;
    int rc = sw_sequence_await_slow(seq, member, step);
    if (rc)
        *status = rc;
    return rc ? NULL : e;
}

/* Says that this member needs nothing more of this step. */
static inline void sw_sequence_done(sw_sequence_t *seq, uint64_t step)
{
    sw_sequence_column_t *mine = seq->mine;
    if (sw_unlikely(seq->broken))
        atomic_store(&seq->block->given_up, 1);
    atomic_store_explicit(&mine->done, step, memory_order_release);
    sw_doorbell_ring(&mine->doorbell);
    /* After the reads of this step: was the memory still offered? */
    atomic_thread_fence(memory_order_acquire);
    if (sw_unlikely(
            atomic_load_explicit(&seq->block->given_up, memory_order_relaxed)))
        seq->broken = true;
}

/* Before and after writing into another member's memory. False: that member
 * may no longer offer it. */
static inline bool sw_sequence_touch(sw_sequence_t *seq)
{
    atomic_store(&seq->mine->touching, 1);
    if (sw_likely(!atomic_load(&seq->block->given_up)))
        return true;
    atomic_store(&seq->mine->touching, 0);
    seq->broken = true;
    return false;
}

static inline void sw_sequence_touched(sw_sequence_t *seq)
{
    atomic_store_explicit(&seq->mine->touching, 0, memory_order_release);
}

/* Waits until a member is done with this step. The sequence keeps what it saw
 * last: a stream of steps reads the member's done word only now and then. Each
 * look takes the word's cache line from the member that stores to it. */
static inline void sw_sequence_await_done(sw_sequence_t *seq, int member,
                                          uint64_t step)
{
    if (seq->known[member] >= step)
        return;
    sw_sequence_column_t *column = sw_sequence_column(seq, member);
    uint64_t done = 0;
    SW_WAIT_UNLESS(seq->broken,
                   sw_sequence_answered(seq) &&
                       (done = atomic_load_explicit(
                            &column->done, memory_order_acquire)) >= step,
                   &column->doorbell);
    seq->known[member] = done;
}

/* Says that this member has not done its part of this step, before it says that
 * it is done: others rely on that part. */
static inline void sw_sequence_fail(sw_sequence_t *seq, uint64_t step, int how)
{
    if (sw_unlikely(how != SW_OK))
        atomic_store_explicit(&seq->mine->failed[step % SW_FAILURES],
                              step << 8 | (unsigned)how, memory_order_relaxed);
}

/* What went wrong in a step that all members are done with: the same answer to
 * all of them. It lies beside the word that tells that they are done. */
static inline int sw_sequence_verdict(const sw_sequence_t *seq, uint64_t step)
{
    int how = SW_OK;
    for (int i = seq->n - 1; i >= 0; i--) {
        uint64_t failed = atomic_load_explicit(
            &sw_sequence_column(seq, i)->failed[step % SW_FAILURES],
            memory_order_relaxed);
        if (sw_unlikely(failed >> 8 == step))
            how = (int)(failed & 0xff);
    }
    return how;
}

/* Waits until all others are done with this step. */
static inline void sw_sequence_await_done_all(sw_sequence_t *seq, uint64_t step)
{
    for (int k = 1; k < seq->n; k++)
        sw_sequence_await_done(seq, sw_sequence_right(seq, k), step);
    if (sw_likely(!seq->broken))
        seq->acked = step;
}

#endif
