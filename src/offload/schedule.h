/*
 * schedule.h - a collective under way, as one member sees it: a schedule of
 * pieces.
 *
 * A member begins a schedule, and may do other things. Whenever a thread of it
 * has time (a call of the program's, or the agent), it pushes the schedule on:
 * the member posts its row, once the slate is free, and does the pieces that no
 * member has claimed, for whichever member. The schedule is over when all is
 * done that the member waits for. No push waits for another member.
 *
 * One thread at a time pushes a schedule. Another finds it held, and goes on.
 */
#ifndef SW_OFFLOAD_SCHEDULE_H
#define SW_OFFLOAD_SCHEDULE_H

#include "slates.h"
#include "coll/coll.h"
#include "coll/payload.h"
#include "coll/scratch.h"

typedef struct sw_schedule sw_schedule_t;

/* What a kind of collective does. The caller holds the schedule. */
typedef struct {
    /* Writes this member's part into its row. */
    void (*post)(sw_schedule_t *s, sw_slate_row_t *row);
    /* Does a piece. False: there is none to do now. `calls`: see below. */
    bool (*work)(sw_schedule_t *s, bool calls);
    /* Is all done that this member waits for? Sets s->status if a member has
     * left too early, or posted something else. */
    bool (*over)(sw_schedule_t *s);
    /* Takes this member's memory back, by a thread of the program's. */
    void (*end)(sw_schedule_t *s);
} sw_schedule_kind_t;

struct sw_schedule {
    const sw_schedule_kind_t *kind;
    sw_slates_t *on;
    uint64_t step, turn;
    uint32_t what; /* sw_sequence_what() */
    int status;    /* not SW_OK: it cannot go on */
    int result;    /* SW_OK, or SW_TRUNCATED: it goes on */
    bool posted;
    bool calls;         /* a thread of the program's pushes it */
    bool open;          /* counted in sw_schedules_open */
    bool joined;        /* those under way */
    _Atomic bool waits; /* ... behind one that has not posted */
    _Atomic bool over;
    _Atomic bool held;
    sw_schedule_t *after, *before; /* among those to push, or that wait */
    sw_scratch_t scratch, room;    /* for its work; its kind's own */
};

/* May several threads of this process come to schedules at once (the program's,
 * or an agent)? Set before they do. */
SW_API extern bool sw_schedules_shared;

/* Begins a schedule of a kind, in the order of the communicator's collectives,
 * and posts it if its slate is free. No other thread knows it yet. */
void sw_schedule_begin(sw_schedule_t *s, const sw_schedule_kind_t *kind,
                       sw_slates_t *on, uint32_t what);

/* Pushes it for the first time. True: it is over, by luck. Else all threads may
 * push it from here on. */
SW_API bool sw_schedule_set_out(sw_schedule_t *s);

/* Pushes a schedule on. True: it is over. `calls`: this is a thread of the
 * program's. No other may show memory to peers (node/arena/show.h), or call a
 * user's operation. */
SW_API bool sw_schedule_push(sw_schedule_t *s, bool calls);
/* Counts the pushes of the program's threads, where schedules are shared. */
SW_API extern _Atomic uint64_t sw_schedules_attended;
/* Counts the schedules that these have pushed, for tests. */
SW_API extern _Atomic uint64_t sw_schedule_pushes;

/* Pushes each schedule that is under way in this process. False: there is
 * none. */
SW_API bool sw_schedules_push(bool calls);
/* So many are under way; peers may write to memory of so many. What they write
 * to a page that is private lies in the arena's file until the schedule ends:
 * no thread may show such a page meanwhile. */
SW_API extern _Atomic int sw_schedules, sw_schedules_open;

static inline bool sw_schedule_is_over(const sw_schedule_t *s)
{
    return atomic_load_explicit(&s->over, memory_order_acquire);
}

/* A member has died, or the communicator was revoked: the schedule is over. */
SW_API void sw_schedule_break(sw_schedule_t *s);

/* After it is over: takes the memory back. Returns SW_OK or what went wrong.
 * The caller may begin another schedule in the same place. */
SW_API int sw_schedule_end(sw_schedule_t *s);

/* For kinds ---------------------------------------------------------------- */

static inline sw_slate_row_t *sw_schedule_row(const sw_schedule_t *s,
                                              int member)
{
    return sw_slate_row(s->on, s->step, member);
}

/* A member's row, or NULL: it has not posted, or (with s->status set) posts
 * something else, or has left. */
static inline const sw_slate_row_t *sw_schedule_look(sw_schedule_t *s,
                                                     int member)
{
    const sw_slate_row_t *row = sw_schedule_row(s, member);
    if (sw_likely(sw_row_posted(row, s->turn))) {
        sw_slate_hear(s->on, member, row->before);
        if (sw_likely(row->what == s->what))
            return row;
        s->status = SW_MISMATCH;
    } else if (sw_row_left(row, s->turn) && !sw_row_posted(row, s->turn)) {
        s->status = SW_MISMATCH;
    }
    return NULL;
}

static inline void sw_schedule_bad(sw_schedule_t *s, int status)
{
    s->status = s->status ? s->status : status;
}

/* A member has ended its part, though pieces of it are open. */
static inline bool sw_schedule_deserted(sw_schedule_t *s, int member,
                                        const sw_slate_row_t *row,
                                        sw_pieces_t of)
{
    if (sw_likely(!sw_row_left(sw_schedule_row(s, member), s->turn)) ||
        sw_row_ticked(s->on, row, of))
        return false;
    sw_schedule_bad(s, SW_BROKEN);
    return true;
}

/* Where the other members find a buffer of this member's, or UINT64_MAX: they
 * do not, or this is no thread that may show it to them. */
static inline uint64_t sw_schedule_show(const sw_schedule_t *s, const void *p,
                                        size_t n)
{
    return s->calls ? sw_payload_direct(s->on->team, p, n)
                    : sw_show_at_birth(p, n);
}

/* The other members may write to memory of this one's, once it has posted: all
 * of that has been found. */
static inline void sw_schedule_open(sw_schedule_t *s)
{
    s->open = true;
    sw_counter_add(&sw_schedules_open, 1, sw_schedules_shared,
                   memory_order_relaxed);
}

/* Into how many pieces `bytes` are cut, of `most` at most. */
#define SW_PIECE 32768
static inline unsigned sw_schedule_pieces(uint64_t bytes, unsigned most)
{
    uint64_t wanted = bytes / SW_PIECE;
    return wanted < 1 ? 1 : wanted > most ? most : (unsigned)wanted;
}

/* `count` bits from `first` on. */
static inline uint64_t sw_schedule_bits(unsigned first, unsigned count)
{
    return (count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1) << first;
}

#endif
