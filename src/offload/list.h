/*
 * list.h - a collective under way, as one member sees it: a list of pieces.
 *
 * A member begins a list, and may do other things. Whenever a thread of it has
 * time (a call of the program's, or the agent), it pushes the list on: the
 * member posts its row, once the slate is free, and does the pieces that no
 * member has claimed, for whichever member. The list is over when all is done
 * that the member waits for. No push waits for another member.
 *
 * One thread at a time pushes a list. Another finds it held, and goes on.
 */
#ifndef SW_OFFLOAD_LIST_H
#define SW_OFFLOAD_LIST_H

#include "slates.h"
#include "coll/coll.h"
#include "coll/payload.h"
#include "coll/scratch.h"

typedef struct sw_list sw_list_t;

/* What a kind of collective does. The caller holds the list. */
typedef struct {
    /* Writes this member's part into its row. */
    void (*post)(sw_list_t *l, sw_slate_row_t *row);
    /* Does a piece. False: there is none to do now. `calls`: see below. */
    bool (*work)(sw_list_t *l, bool calls);
    /* Is all done that this member waits for? Sets l->status if a member has
     * left too early, or posted something else. */
    bool (*over)(sw_list_t *l);
    /* Takes this member's memory back, by a thread of the program's. */
    void (*end)(sw_list_t *l);
} sw_list_kind_t;

struct sw_list {
    const sw_list_kind_t *kind;
    sw_slates_t *on;
    uint64_t step, turn;
    uint32_t what;              /* sw_what()                                */
    int status;                 /* not SW_OK: it cannot go on               */
    int result;                 /* SW_OK, or SW_TRUNCATED: it goes on       */
    bool posted;
    bool calls;                 /* a thread of the program's pushes it      */
    bool open;                  /* counted in sw_lists_open                 */
    bool joined;                /* those under way                          */
    _Atomic bool waits;         /* ... behind one that has not posted       */
    _Atomic bool over;
    _Atomic bool held;
    sw_list_t *after, *before;  /* among those to push, or that wait        */
    sw_scratch_t scratch, room; /* for its work; its kind's own             */
};

/* May several threads of this process come to lists at once (the program's, or
 * an agent)? Set before they do. */
SW_API extern bool sw_lists_shared;

/* Begins a list of a kind, in the order of the communicator's collectives, and
 * posts it if its slate is free. No other thread knows it yet. */
void sw_list_begin(sw_list_t *l, const sw_list_kind_t *kind, sw_slates_t *on,
                   uint32_t what);

/* Pushes it for the first time. True: it is over, by luck. Else all threads may
 * push it from here on. */
SW_API bool sw_list_set_out(sw_list_t *l);

/* Pushes a list on. True: it is over. `calls`: this is a thread of the
 * program's. No other may show memory to peers (node/arena/show.h), or call a
 * user's operation. */
SW_API bool sw_list_push(sw_list_t *l, bool calls);
/* Counts the pushes of the program's threads, where lists are shared. */
SW_API extern _Atomic uint64_t sw_lists_attended;
/* Counts the lists that these have pushed, for tests. */
SW_API extern _Atomic uint64_t sw_list_pushes;

/* Pushes each list that is under way in this process. False: there is none. */
SW_API bool sw_lists_push(bool calls);
/* So many are under way; peers may write to memory of so many. What they write
 * to a page that is private lies in the arena's file until the list ends:
 * no thread may show such a page meanwhile. */
SW_API extern _Atomic int sw_lists, sw_lists_open;

static inline bool sw_list_is_over(const sw_list_t *l)
{
    return atomic_load_explicit(&l->over, memory_order_acquire);
}

/* A member has died, or the communicator was revoked: the list is over. */
SW_API void sw_list_break(sw_list_t *l);

/* After it is over: takes the memory back. Returns SW_OK or what went wrong.
 * The caller may begin another list in the same place. */
SW_API int sw_list_end(sw_list_t *l);

/* For kinds ---------------------------------------------------------------- */

static inline sw_slate_row_t *sw_list_row(const sw_list_t *l, int member)
{
    return sw_slate_row(l->on, l->step, member);
}

/* A member's row, or NULL: it has not posted, or (with l->status set) posts
 * something else, or has left. */
static inline const sw_slate_row_t *sw_list_look(sw_list_t *l, int member)
{
    const sw_slate_row_t *row = sw_list_row(l, member);
    if (sw_likely(sw_row_posted(row, l->turn))) {
        sw_slate_hear(l->on, member, row->before);
        if (sw_likely(row->what == l->what))
            return row;
        l->status = SW_MISMATCH;
    } else if (sw_row_left(row, l->turn) &&
               !sw_row_posted(row, l->turn)) {
        l->status = SW_MISMATCH;
    }
    return NULL;
}

static inline void sw_list_bad(sw_list_t *l, int status)
{
    l->status = l->status ? l->status : status;
}

/* A member has ended its part, though pieces of it are open. */
static inline bool sw_list_deserted(sw_list_t *l, int member,
                                    const sw_slate_row_t *row, sw_pieces_t of)
{
    if (sw_likely(!sw_row_left(sw_list_row(l, member), l->turn)) ||
        sw_row_ticked(l->on, row, of))
        return false;
    sw_list_bad(l, SW_BROKEN);
    return true;
}

/* Where the other members find a buffer of this member's, or UINT64_MAX: they
 * do not, or this is no thread that may show it to them. */
static inline uint64_t sw_list_show(const sw_list_t *l, const void *p,
                                    size_t n)
{
    return l->calls ? sw_direct(l->on->team, p, n) : sw_shared_at(p, n);
}

/* The other members may write to memory of this one's, once it has posted: all
 * of that has been found. */
static inline void sw_list_open(sw_list_t *l)
{
    l->open = true;
    sw_counter_add(&sw_lists_open, 1, sw_lists_shared, memory_order_relaxed);
}

/* Into how many pieces `bytes` are cut, of `most` at most. */
#define SW_PIECE 32768
static inline unsigned sw_list_pieces(uint64_t bytes, unsigned most)
{
    uint64_t wanted = bytes / SW_PIECE;
    return wanted < 1 ? 1 : wanted > most ? most : (unsigned)wanted;
}

/* `count` bits from `first` on. */
static inline uint64_t sw_bits(unsigned first, unsigned count)
{
    return (count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1) << first;
}

#endif
