/*
 * show.h - a process's own memory, shown to its peers where that is worth it.
 *
 * Heap blocks and static data are private memory, like any other program's.
 * Before a peer reads or writes a buffer in place, the owner *shows* its pages:
 * it writes their content to the arena's file, at the offset that belongs to
 * their address, and maps the file over them. Peers have the whole file
 * mapped, so the owner need not tell them.
 *
 *      buffer             [=======|===========|===========|====]
 *      pages      |  x  x [=======|===========|===========|====] x  |
 *      seen by peers as    staged     shown       shown    staged
 *
 * Why this cannot race. While a call is under way, MPI forbids the program to
 * write to a send buffer, or to touch a receive buffer. So no byte of the pages
 * inside the buffer changes while the owner replaces them, and a reader sees
 * the same bytes before and after. The pages at the buffer's ends hold other
 * bytes, too, which the program may write at any time; they stay private. The
 * file's own copies of these two pages are free. The owner copies the buffer's
 * bytes there before peers read, and back after peers have written
 * (sw_show_stage, sw_show_fetch). So a peer sees the whole buffer at one
 * address.
 *
 * The owner shows a page at an end as well if it holds nothing else: the pages
 * of a heap block are its own. If no other thread can write at all
 * (sw_show_quiet), it also shows pages with foreign bytes, those between the
 * pieces of data with gaps included. arena_gate.h has all conditions.
 *
 * A shown page stays shown until the arena gives its extent back to the system.
 */
#ifndef SW_NODE_ARENA_SHOW_H
#define SW_NODE_ARENA_SHOW_H

#include "arena.h"

typedef enum {
    SW_SHOW_LAZY,  /* pages become shared when that is worth it */
    SW_SHOW_EAGER, /* heap and static data are shared from their birth */
    SW_SHOW_OFF,   /* they stay private */
} sw_show_mode_t;

/* Set by STRAIGHTWAY_SHOW, before the arena starts. */
SW_API extern sw_show_mode_t sw_show_mode;

/* File offsets that peers see as the owner does, from birth. */
SW_API extern uint64_t sw_shown_from, sw_shown_bytes;

/* Can no thread but the calling one write to this process's memory now, and has
 * no operation under way bytes of it in the file? Not set: another may. */
SW_API extern bool (*sw_show_quiet)(void);

/* Has memory of this process been pinned? A card or the kernel relies on it
 * then. Asks the system. Not set: none has. */
SW_API extern bool (*sw_show_pinned)(void);

/* May a device have been told to reach into this process's memory? Then the
 * process shows nothing more. Not set: none has. */
SW_API extern bool (*sw_show_barred)(void);

/* Where private pages lie, and where new ones shall lie: the system's answers,
 * or a test's. NULL: there is one node only. */
typedef struct {
    int (*nodes_of)(const void *p, size_t pages, int *node);
    int (*prefer)(int node);
} sw_placement_t;
SW_API extern const sw_placement_t *sw_show_placement;

SW_API uint64_t sw_show_slow(const void *p, size_t n, uint64_t offset);
SW_API uint64_t sw_show_span_slow(size_t n, uint64_t offset);
SW_API void sw_show_stage_slow(const void *p, size_t n, uint64_t offset);
SW_API void sw_show_fetch_slow(void *p, size_t n, uint64_t offset);

static inline bool sw_shown_always(uint64_t offset)
{
    return offset - sw_shown_from < sw_shown_bytes;
}

/* Where peers see [p, p+n) as the owner does, from its birth, or UINT64_MAX: a
 * private block has no such place. n > 0. */
static inline uint64_t sw_show_at_birth(const void *p, size_t n)
{
    uint64_t offset = sw_arena_offset(p, n);
    return offset != UINT64_MAX && sw_shown_always(offset) ? offset
                                                           : UINT64_MAX;
}

/* Where peers find [p, p+n) in the arena's file, or UINT64_MAX: by CMA or
 * copies only. n > 0. All of it belongs to the caller's MPI call. The bytes
 * themselves are there after sw_show_stage. Each call counts as a use of this
 * memory; pages are shown when uses have become many. */
static inline uint64_t sw_show(const void *p, size_t n)
{
    uint64_t offset = sw_arena_offset(p, n);
    return sw_likely(offset == UINT64_MAX || sw_shown_always(offset))
               ? offset
               : sw_show_slow(p, n, offset);
}

/* The same for a stretch of which some bytes are not the call's: there is
 * nothing to stage. */
static inline uint64_t sw_show_span(const void *p, size_t n)
{
    uint64_t offset = sw_arena_offset(p, n);
    return sw_likely(offset == UINT64_MAX || sw_shown_always(offset))
               ? offset
               : sw_show_span_slow(n, offset);
}

/* After sw_show has found it: let peers see what the owner has written to
 * [p, p+n), any part of it. */
static inline void sw_show_stage(const void *p, size_t n)
{
    uint64_t offset = sw_arena_offset(p, n);
    if (!sw_shown_always(offset) && n)
        sw_show_stage_slow(p, n, offset);
}

/* ... and let the owner see what peers have written there. */
static inline void sw_show_fetch(void *p, size_t n)
{
    uint64_t offset = sw_arena_offset(p, n);
    if (!sw_shown_always(offset) && n)
        sw_show_fetch_slow(p, n, offset);
}

/* Show memory of which no byte is the call's own (a window): where peers find
 * all of [p, p+n) as the owner has it, or UINT64_MAX. n > 0. It is frozen
 * then. */
SW_API uint64_t sw_show_whole(const void *p, size_t n);
/* Another piece of software relies on these pages as they are (the host, for a
 * window; a device's driver): no call replaces any of them from now on. */
SW_API void sw_show_freeze(const void *p, size_t n);
/* A peer's network may have registered pages of the file, and would not learn
 * that the owner gives them back. So the file keeps all its pages from now on,
 * and blocks that are freed use them again. */
SW_API void sw_show_hold(void);
bool sw_show_holds(void);
/* A thread will have its stack here: its pages become private and stay so. A
 * thread that joins it waits for a word in that stack (a futex). The kernel
 * knows a shared word by its file, and a private one by its address. */
SW_API void sw_show_stack(void *p, size_t n);
/* What the program says of its pages: see arena_said.c. Call these before the
 * system hears it. Any addresses; what lies elsewhere is left alone.
 *
 * Something that another page in their place would lose. */
SW_API void sw_said(const void *p, size_t n);
SW_API void sw_arena_said_policy(const void *p, size_t n);
SW_API void sw_arena_said_all(void); /* of all that is handed out now */
/* They shall be huge. */
SW_API void sw_arena_said_huge(const void *p, size_t n);
/* They have a protection of their own; or they are open again. */
SW_API void sw_arena_said_protection(const void *p, size_t n, bool open);
/* What a child is to have there. Of shared pages we see to that: *done. Returns
 * how many bytes from p on that answer is for; p is at a page. */
typedef enum {
    SW_SAID_WIPE,
    SW_SAID_KEEP,
    SW_SAID_LEAVE_OUT,
    SW_SAID_TAKE_ALONG,
} sw_arena_said_child_t;
SW_API size_t sw_arena_said_of_child(const void *p, size_t n,
                                     sw_arena_said_child_t what, bool *done);
/* The program has given their content up (MADV_DONTNEED): pages that are shown
 * become private again, and all read as zeros. */
SW_API bool sw_show_drop(void *p, size_t n);

/* Make pages that are shown private again, with what they hold. A peer that
 * reads them now still finds it in the file. Where the pages hold the caller's
 * stack or thread-local data, the caller must run on another stack. */
SW_API void sw_show_hide(void *p, size_t n);

/* What showing has taken of the calling thread's time since a profile last
 * asked. The profile then sets it to zero, and tells it by call. */
typedef struct {
    uint64_t nanoseconds;
    uint64_t again; /* bytes that had been shown before */
} sw_show_cost_t;
SW_API extern _Thread_local sw_show_cost_t sw_show_cost
    __attribute__((tls_model("initial-exec")));

/* For --stats and tests. */
typedef struct {
    size_t shown;                /* bytes now */
    uint64_t times, nanoseconds; /* of showing */
    uint64_t bytes;              /* ever shown */
    uint64_t again;              /* of these, shown before and freed since */
    uint64_t refused;            /* by the system */
} sw_show_stats_t;
SW_API void sw_show_stats(sw_show_stats_t *to);

#endif
