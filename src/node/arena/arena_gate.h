/*
 * arena_gate.h - may a page be replaced? The one list of conditions.
 *
 * Pages belong to the program. The arena replaces the memory at a page's
 * address for four reasons, and asks here first:
 *
 *   a call shows pages     sw_gate_call: the pages that the call owns to the
 *                          last byte; all of them where the process is quiet
 *   free                   sw_gate_freed: no block owns a byte of the extent
 *   MADV_DONTNEED, FREE    sw_gate_dropped: the program gives the content up
 *   a stack                sw_gate_handed: the program hands the memory over
 *
 * A call owns a byte if MPI forbids the program to touch it until the operation
 * is over: a buffer of a send, of a receive, of a collective. Making a window
 * or a persistent request owns nothing. Quiet (sw_show_quiet): no other thread
 * can write to this process's memory, and no schedule under way has bytes of it
 * in the file.
 *
 * A call replaces no page which another piece of software relies on as it is
 * (frozen). It replaces none for which the program has set something that a new
 * page would lose (spoken for: arena_said.c). It replaces none at all once a
 * device's driver is loaded, once memory has been pinned, or once our
 * descriptor is another file's.
 *
 * The caller holds the lock from its question to its last replacement. It may
 * replace just the pages that sw_gate_... has granted last.
 */
#ifndef SW_NODE_ARENA_ARENA_GATE_H
#define SW_NODE_ARENA_ARENA_GATE_H

#include "arena_bits.h"
#include "arena_impl.h"

/* Pages of the arena's file, [first, end). */
typedef struct {
    uint64_t first, end;
} sw_run_t;

static inline bool sw_run_none(sw_run_t run)
{
    return run.first >= run.end;
}

/* The file's pages of which n bytes at an offset have a part. */
static inline sw_run_t sw_run_of(uint64_t offset, size_t n)
{
    return (sw_run_t){offset / SW_PAGE, (offset + n - 1) / SW_PAGE + 1};
}

/* Where a page of the file lies in this process. */
char *sw_run_address(uint64_t page);

/* The pages of `all` that [p, p+n) has for itself. */
sw_run_t sw_run_inside(const void *p, size_t n, sw_run_t all);

/* Might a call show any of this memory? Without the lock, no system call. */
bool sw_gate_may(size_t n);
/* Must a page of the run stay which is not shown? */
bool sw_gate_stays(sw_run_t run);
/* Those of `all` that the call at hand may show, of which it owns `own`; at
 * least those of `own`, or none. */
sw_run_t sw_gate_call(sw_run_t all, sw_run_t own);
/* For the other reasons. */
void sw_gate_freed(sw_run_t run);
void sw_gate_dropped(sw_run_t run);
void sw_gate_handed(sw_run_t run);

/* At each replacement: is it granted? For sw_assert. */
bool sw_gate_granted(uint64_t first, uint64_t pages);

/* What a run that becomes shown would add to the borders; one that becomes
 * private, take from them. */
static inline int sw_run_borders(uint64_t first, uint64_t end)
{
    return (first && sw_bits_is(SW_BIT_SHOWN, first - 1) ? -1 : 1) +
           (sw_bits_is(SW_BIT_SHOWN, end) ? -1 : 1);
}

/* What all this needs, with the lock. */
typedef struct {
    char *alias; /* the file, as peers have it; or NULL */
    int64_t borders;
    sw_show_stats_t stats;
} sw_showing_t;
extern sw_showing_t sw_showing;

/* Has the program given pages of a run a protection of their own? */
extern _Atomic bool sw_arena_said_guards;
static inline bool sw_arena_said_guarded(sw_run_t run)
{
    return sw_unlikely(atomic_load_explicit(&sw_arena_said_guards,
                                            memory_order_relaxed)) &&
           sw_bits_any(SW_BIT_GUARDED, run.first, run.end);
}
/* Something stands or is said of [p, p+n), which ends with its block. */
void sw_arena_said_somewhere(const void *p, size_t n);

/* Is our descriptor still our file's? The program may have given its number to
 * another one. */
bool sw_gate_ours(void);

#endif
