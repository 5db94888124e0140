/*
 * site.h - call sites: from where in the program an MPI procedure was called.
 *
 * A site is a stack, cut off at a depth: up to `depth` native frames and up to
 * `depth` frames of Python, innermost first. The layers between the program and
 * us are left out (an MPI's Fortran and C++ layers, our own library). Equal
 * stacks have one number; numbers go from 1 up, in the order in which sites
 * were met.
 *
 *     int MPI_Barrier(MPI_Comm comm)             a wrapper
 *     {
 *         sw_caller_t from = SW_CALLER();
 *         uint32_t site = sw_site(&from);
 *
 * With one native frame and no Python a site is a look into the thread's cache
 * by the return address. Otherwise the stack is walked (unwind.h), its frames
 * are hashed, and the hash is looked up.
 *
 * Objects that are closed. When an object is closed and another comes to lie at
 * its addresses, a return address means another call. Sites of before stay what
 * they were: their frames are modules and offsets, not addresses. New calls are
 * told right as soon as we know of it. That is at once where the closing thread
 * calls sw_sites_closed(). Else it is when any thread meets an address that its
 * cache lacks, and at the latest after SW_SITE_CHECK calls of a thread. Until
 * then a call at the very address of a former call counts as that one. Its rule
 * may then lead out of the frame wrongly: a stack is cut short, or shows frames
 * that are none. That does no other harm.
 */
#ifndef SW_PROFILE_STACK_SITE_H
#define SW_PROFILE_STACK_SITE_H

#include "frame.h"
#include "module.h"
#include "python.h"
#include "thread.h"
#include "unwind.h"

#define SW_SITE_CHECK 4096

/* How many frames a site has at most, 1 (as it is) to SW_DEPTH_MAX. False: out
 * of range, or there are sites already. */
SW_API bool sw_site_depth(int depth);

/* The number of the site; 0: not to be told (too many sites, no memory, or
 * this is a signal handler that interrupted another call's sw_site). */
SW_API uint32_t sw_site(const sw_caller_t *from);

/* The same. Sites that hang on the return address alone are found here, in
 * the way of site_inside; `turns` is taken and given back around the look, as
 * there, on account of signal handlers. */
static inline uint32_t sw_site_quick(const sw_caller_t *from)
{
    sw_thread_t *t = sw_thread_own;
    uint32_t turns;

    if (sw_likely(t) && sw_likely((turns = t->turns) > 1)) {
        t->turns = 0;
        atomic_signal_fence(memory_order_seq_cst);
        uint32_t slot = sw_thread_cache_slot(from->pc);
        uint32_t site = t->alone[slot].site;
        bool found = t->alone[slot].pc == from->pc &&
                     t->epoch ==
                         atomic_load_explicit(&sw_epoch, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        t->turns = turns - found;
        if (sw_likely(found))
            return site;
    }
    return sw_site(from);
}

/* Objects have been closed, or made known otherwise: see above. */
SW_API void sw_sites_closed(void);

/* Leading frames in modules of this path, or file name, or beginning of it
 * ("libfoo*"), are left out, too: the host's own libraries. Before its sites
 * are met, best. False: too many of them. */
SW_API bool sw_site_skip_module(const char *path);

/* For the writer of the capture: all that is known, also in a signal handler.
 * Rows of sw_frames, sw_modules, sw_python_lines are read as in table.h. */
typedef struct sw_site {
    uint16_t natives, pythons;
    uint32_t frames[]; /* rows of sw_frames: native, then Python */
} sw_site_t;

extern sw_table_t sw_sites;

/* The registers of the calling function's own caller. The wrapper itself uses
 * this. It must not be a naked function, nor have variables that are aligned
 * more than the ABI's 16 bytes. It works at every optimisation and
 * with and without frame pointers: asking for the frame's address makes the
 * compiler keep one for this function. */
#if defined(__x86_64__) && defined(__clang__)
#define SW_CALLER()                                                           \
    __extension__({                                                           \
        const uintptr_t *frame_ = (const uintptr_t *)__builtin_frame_address( \
            0);                                                               \
        (sw_caller_t){frame_[1], (uintptr_t)(frame_ + 2), frame_[0]};         \
    })
#elif !defined(__clang__)
#define SW_CALLER()                                                            \
    __extension__({                                                            \
        const uintptr_t *frame_ = (const uintptr_t *)__builtin_frame_address(  \
            0);                                                                \
        (sw_caller_t){sw_unwind_strip((uintptr_t)__builtin_return_address(0)), \
                      (uintptr_t)__builtin_dwarf_cfa(), frame_[0]};            \
    })
#else
/* clang on aarch64 does not tell the CFA: start at the wrapper's own frame,
 * and leave it. */
#define SW_CALLER()                                                      \
    __extension__({                                                      \
        sw_caller_t own_;                                                \
        __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29"        \
                         : "=r"(own_.pc), "=r"(own_.sp), "=r"(own_.bp)); \
        sw_site_leave(&own_, (uintptr_t)__builtin_return_address(0));    \
    })
#endif

/* The caller's registers, from those at some instruction of a function. Where
 * no rule is known, only the return address is true. */
SW_API sw_caller_t sw_site_leave(const sw_caller_t *inside, uintptr_t back);

#endif
