/*
 * unwind.h - from a frame to its caller's, in some nanoseconds.
 *
 * Every code address has one rule that leads out of its frame (cfi.h). It is
 * looked for once, in microseconds, and kept: in a table of the process and in
 * the thread's cache. From then on a frame is a look into the cache and two
 * loads from the stack.
 *
 *            caller's frame      <- CFA: the caller's sp
 *            return address      <- CFA + ra
 *            caller's bp         <- CFA + bp, where it was saved
 *      sp -> frame
 *
 * Rules may be wrong (hand-written assembly), so no word is read unseen: it
 * has to be aligned, above the stack pointer, and in the thread's own stack.
 * On another stack (a coroutine's, a signal handler's) the kernel is asked
 * whether there is memory, once a page. The stack pointer has to grow.
 *
 * Most walks have been made before: see sw_trail_t.
 *
 * The compiler's unwinder (_Unwind_Backtrace of libgcc) finds the same frames,
 * through the MPIs and CPython too. It cannot take this one's place:
 *
 *   - libgcc reads every word unseen. Of 15 odd stacks (wrong tables, a lost
 *     return address, a coroutine, code made at run time) 7 crash it.
 *   - A walk by libgcc costs 1 us and 250 ns a frame, against 12 ns a frame
 *     here: 4.7 us for 16 frames, against 0.18 us.
 *   - libgcc does not tell where a frame keeps the caller's registers, and a
 *     trail needs those places.
 *   - libgcc.a of a system with glibc 2.35 asks the program's glibc for
 *     _dl_find_object, which older systems lack.
 */
#ifndef SW_PROFILE_STACK_UNWIND_H
#define SW_PROFILE_STACK_UNWIND_H

#include "thread.h"

/* The stack of a call: up to `most` native frames, as rows of sw_frames,
 * without leading ones that are skipped. trail->from says where it begins;
 * natives, frames and the words read are filled in, if there is room for
 * `room` words; else trail->words is SW_NO_TRAIL. False: a frame could not be
 * looked up (no room, or this is a signal handler that interrupted the search
 * for one). */
bool sw_unwind_walk(sw_thread_t *t, int most, sw_trail_t *trail, uint32_t room);

#define SW_NO_TRAIL 255

/* One step: from an instruction of a function to its caller. False: not to be
 * told. */
bool sw_unwind_step(sw_thread_t *t, const sw_caller_t *inside,
                    sw_caller_t *caller);

/* What is known of a code address. The place is the thread's and may be
 * another one's after the next call; NULL: it cannot be found out now (in a
 * signal handler that interrupted the search). */
const sw_stack_place_t *sw_place_find(sw_thread_t *t, uintptr_t address);

static inline const sw_stack_place_t *sw_place(sw_thread_t *t,
                                               uintptr_t address)
{
    const sw_stack_place_t *p = &t->places[sw_thread_cache_slot(address)];
    return sw_likely(p->address == address) ? p : sw_place_find(t, address);
}

/* An address without the signature that aarch64 may keep in its upper bits. */
static inline uintptr_t sw_unwind_strip(uintptr_t address)
{
#if defined(__aarch64__)
    register uintptr_t lr __asm__("x30") = address;
    __asm__("hint 7" : "+r"(lr)); /* xpaclri; nothing on old cores */
    return lr;
#else
    return address;
#endif
}

/* Have all addresses looked up anew if objects were closed: at every miss, and
 * now and then. */
void sw_places_check(void);

#endif
