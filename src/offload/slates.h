/*
 * slates.h - shared memory in which the members of a team carry out
 * collectives that go on while their programs compute.
 *
 * A *slate* serves one collective at a time. Each member has a row there, in
 * which it posts its part. The collective is then cut into pieces. A member
 * that has time claims a piece and does it, for whichever member. So members
 * that wait work for members that compute. (The idea is that of CORE-Direct's
 * task lists, which an adapter carries out: Graham et al., CCGrid 2010.)
 *
 *   +------------+---------+---------+-----+---------+---------+
 *   | doorbell   | slate 0 | slate 1 | ... | areas 0 | areas 1 |
 *   | column 0.. | (rows)  |         |     | (pages) |   ...   |
 *   +------------+---------+---------+-----+---------+---------+
 *
 *   row     posted (8) what (4) form (4) bytes (8) before (8) data (96)
 *           left (8)
 *           claims[words], ticks[words]      of what goes to this member
 *   area    of a row: tables of blocks, and payload that does not fit the row
 *
 * All members start the collectives of a block of slates in one order, so all
 * number them alike: step s, in slate (s - 1) mod depth, whose *turn* it is
 * (s - 1) / depth + 1.
 *
 * Protocol and memory order:
 *   - post: the member writes its row, makes its claims and ticks of this turn,
 *     then stores posted = turn (release). A reader that loads posted == turn
 *     (acquire) sees the row, and the memory that it offers.
 *   - claim: a worker sets a piece's bit in `claims`, and has the piece if the
 *     bit was not set. It has seen `posted` of all whose memory it needs.
 *   - tick: the worker has done its piece, and sets its bit in `ticks`
 *     (release). A member that loads all bits it waits for (acquire) sees what
 *     all workers have written: their read-modify-writes are one release
 *     sequence.
 *   - left = turn (release): the member looks no more at this turn, and nothing
 *     of its own is in use. It has seen the ticks of all pieces that read or
 *     write its memory. A member posts turn t in its row when all have left
 *     turn t - 1 (acquire). So as long as one member looks at a turn, no row of
 *     it changes, but for claims and ticks. `before` tells with each post up to
 *     which step its member has left, and so does its column. So in a stream
 *     members seldom look at the others' `left`.
 *
 * A member that gives up leaves with pieces under way. Its program then owns
 * its memory again, so no worker may still be in there. A worker counts itself
 * in its column's `touching`, then looks whether a member of its piece has
 * left. The leaver stores `left`, then waits until it has seen each living
 * member's `touching` at zero. Both pairs are sequentially consistent, so one
 * of the two sees the other.
 */
#ifndef SW_OFFLOAD_SLATES_H
#define SW_OFFLOAD_SLATES_H

#include "coll/team.h"
#include "node/wait.h"

#define SW_SLATE_INLINE 96 /* payload bytes in the row itself */
#define SW_SLATE_BITS 64   /* pieces of a word */

typedef struct {
    _Atomic uint64_t posted; /* the turn whose row this is */
    uint32_t what;           /* sw_sequence_what(), for checks */
    uint16_t form;           /* sw_form_t of what is sent */
    uint16_t listed;         /* SW_LISTS_* bits */
    uint64_t bytes;          /* of each block that is sent, or of all */
    uint64_t before;         /* its member has left all steps up to this */
    union {
        char data[SW_SLATE_INLINE];
        struct {
            sw_part_t send; /* memory that the others may read */
            sw_part_t recv; /* ... and write; SW_FORM_NONE: none */
        };
    };
    _Atomic uint64_t left;
    char pad[SW_PAIR - 8];
    _Atomic uint64_t word[]; /* claims, then ticks */
} sw_slate_row_t;

_Static_assert(offsetof(sw_slate_row_t, left) == SW_PAIR,
               "a row is a line pair");
_Static_assert(sizeof(sw_slate_row_t) % SW_PAIR == 0, "words start on a pair");

/* PACKED: its own block is not there. */
enum { SW_LISTS_SENDS = 1, SW_LISTS_RECVS = 2, SW_LISTS_PACKED = 4 };

typedef struct {
    _Atomic uint32_t touching; /* threads of this member in others' memory */
    char pad[SW_LINE - 4];
    _Atomic uint64_t left; /* it has left all steps up to this one */
    char pad_left[SW_LINE - 8];
} sw_slate_column_t;

/* A member's end of a block of slates. */
typedef struct {
    sw_team_t *team;
    int n, me;
    /* a power of two, 1 << shift: the others learn it with the block */
    unsigned depth;
    unsigned shift;
    unsigned words; /* of claims, and of ticks, in a row */
    size_t row_bytes, area;
    uint64_t name;       /* under which the others find the block */
    char *block;         /* NULL: not found yet */
    sw_doorbell_t *bell; /* of all members: one has got on */
    sw_slate_column_t *columns;
    char *rows, *areas;
    uint64_t step;               /* last begun */
    uint64_t left;               /* this member has left all up to this */
    _Atomic uint64_t *known;     /* [n] the same of each, as last heard */
    bool broken;                 /* a member has died or given up */
    bool refused;                /* the leader has no room for the block */
    _Atomic bool locked;         /* see schedule.c */
    struct sw_schedule *next;    /* the oldest schedule that has not posted */
    struct sw_schedule *waiting; /* those behind it, in a circle */
} sw_slates_t;

/* Opens this member's end of a block of `depth` slates, a power of two (0: as
 * many as suit; where the leader is short of room, two). It holds the team,
 * whose members map each other's arenas. The leader takes the block of its
 * arena. The others find it by its name (notices.h) when they first need it.
 * Where the leader has no room for it, all of them find that out, and no
 * schedule can be posted. */
SW_API sw_slates_t *sw_slates_open(sw_team_t *team, uint64_t name,
                                   unsigned depth);
/* Is the block there? If it will never be, s->refused tells. The caller has the
 * lock (schedule.c). */
SW_API bool sw_slates_find(sw_slates_t *s);
static inline bool sw_slates_found(sw_slates_t *s)
{
    return sw_likely(s->rows) || sw_slates_find(s);
}
/* Leaves the block: no wait. No schedule is under way any more. */
SW_API void sw_slates_close(sw_slates_t *s);

static inline uint64_t sw_slate_turn(const sw_slates_t *s, uint64_t step)
{
    return ((step - 1) >> s->shift) + 1;
}

static inline size_t sw_row_place(const sw_slates_t *s, uint64_t step,
                                  int member)
{
    return (size_t)((step - 1) & (s->depth - 1)) * (size_t)s->n +
           (size_t)member;
}

static inline sw_slate_row_t *sw_slate_row(const sw_slates_t *s, uint64_t step,
                                           int member)
{
    return (sw_slate_row_t *)(s->rows +
                              sw_row_place(s, step, member) * s->row_bytes);
}

static inline char *sw_slate_area(const sw_slates_t *s, uint64_t step,
                                  int member)
{
    return s->areas + sw_row_place(s, step, member) * s->area;
}

/* Other members may sleep for what this one has posted, done or left. */
static inline void sw_slates_ring(const sw_slates_t *s)
{
    if (sw_likely(s->bell))
        sw_doorbell_ring(s->bell);
}

/* May this member post its row of `step`? */
SW_API bool sw_slate_free(sw_slates_t *s, uint64_t step);

/* Its row is written: the others may see it. */
SW_API void sw_slate_post(sw_slates_t *s, uint64_t step, sw_slate_row_t *row);

/* Has the member posted its row? Then all of it can be read. */
static inline bool sw_row_posted(const sw_slate_row_t *row, uint64_t turn)
{
    return atomic_load_explicit(&row->posted, memory_order_acquire) == turn;
}

/* A member has left all steps up to this one. What a thread has heard, another
 * one of this member's relies on when it posts. */
static inline void sw_slate_hear(const sw_slates_t *s, int member,
                                 uint64_t step)
{
    if (atomic_load_explicit(&s->known[member], memory_order_relaxed) < step)
        atomic_store_explicit(&s->known[member], step, memory_order_release);
}

static inline bool sw_row_left(const sw_slate_row_t *row, uint64_t turn)
{
    return atomic_load(&row->left) >= turn;
}

/* Pieces `first` .. `first + count - 1` of a row, as bits of its words. */
typedef struct {
    unsigned word;
    uint64_t bits;
} sw_pieces_t;

/* Claims the lowest unclaimed of these pieces; its bit, or 0: none is left. */
static inline uint64_t sw_row_claim(sw_slate_row_t *row, sw_pieces_t of)
{
    _Atomic uint64_t *word = &row->word[of.word];
    uint64_t open = of.bits & ~atomic_load_explicit(word, memory_order_relaxed);
    while (open) {
        uint64_t bit = open & -open;
        uint64_t seen = atomic_fetch_or_explicit(word, bit,
                                                 memory_order_acq_rel);
        if (!(seen & bit))
            return bit;
        open = of.bits & ~seen;
    }
    return 0;
}

static inline void sw_row_tick(const sw_slates_t *s, sw_slate_row_t *row,
                               unsigned word, uint64_t bit)
{
    atomic_fetch_or_explicit(&row->word[s->words + word], bit,
                             memory_order_release);
}

/* Are all of these pieces done? */
static inline bool sw_row_ticked(const sw_slates_t *s,
                                 const sw_slate_row_t *row, sw_pieces_t of)
{
    return !(of.bits & ~atomic_load_explicit(&row->word[s->words + of.word],
                                             memory_order_acquire));
}

/* Around work on other members' memory. */
static inline void sw_slate_touch(const sw_slates_t *s)
{
    atomic_fetch_add(&s->columns[s->me].touching, 1);
}
static inline void sw_slate_touched(const sw_slates_t *s)
{
    atomic_fetch_sub_explicit(&s->columns[s->me].touching, 1,
                              memory_order_release);
}

/* This member looks no more at this step, and nothing of it is in use. */
SW_API void sw_slate_leave(sw_slates_t *s, uint64_t step);
/* It leaves before its time: waits for workers that may be in its memory. */
SW_API void sw_slate_give_up(sw_slates_t *s, uint64_t step);

#endif
