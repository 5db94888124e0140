/*
 * beat.h - a thread that spins in code of another library yields its core now
 * and then.
 *
 * Some MPIs wait by spinning, in procedures that have no other form. Where
 * ranks share cores, such a rank keeps a core that the awaited rank needs until
 * its slice ends, after milliseconds: 50 ms for an MPI_Win_create of MPICH with
 * four ranks on two cores. Between sw_beat_start and sw_beat_stop a timer
 * interrupts the thread every 100 us with a signal, whose handler yields, and
 * nothing else. The same MPI_Win_create takes 2 ms. (Beats every 50 us make it
 * 2.7 times as long, every 20 us 13 times, every 200 us 1.7 times, every
 * 500 us 3.4 times.)
 *
 * A library that yields by itself needs no beat, and loses by it: Open MPI's
 * MPI_Comm_split took 6 times as long. So a beat that finds that the library
 * has called sched_yield, or has slept, does nothing. After two of these in a
 * row there is none until the next start.
 *
 * A signal may cut a system call short. So a beat is for waits in a library
 * that stands that, and never for reading or writing files. The signal is a
 * real-time one that the program has not taken. While the program has taken it,
 * or blocks it, there is no beat. The main thread alone has beats: another one
 * may have too small a stack for a signal. A child of a fork has none. Where
 * the program leaps out of the library (longjmp), the next beat finds that the
 * starter's frame is gone, and is the last.
 */
#ifndef SW_NODE_OS_BEAT_H
#define SW_NODE_OS_BEAT_H

#include "node/base/base.h"

/* This thread will have beats. False: it is not the main one, the system
 * refuses a timer, or the program has taken all real-time signals. And it has
 * none any more. */
SW_API bool sw_beat_make(void);
SW_API void sw_beat_end(void);

__attribute__((always_inline)) static inline uintptr_t sw_beat_stack(void)
{
    uintptr_t sp;
#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
#else
    __asm__ volatile("mov %0, sp" : "=r"(sp));
#endif
    return sp;
}

/* May this thread have beats? */
SW_API extern _Thread_local bool sw_beat_there
    __attribute__((tls_model("initial-exec")));

/* They begin (false: they do not, or have begun already), and end. `stack`: the
 * stack pointer of the function that starts them, and calls the library. */
SW_API bool sw_beat_start(uintptr_t stack);
SW_API void sw_beat_stop(void);

/* How often the MPI library has called sched_yield (front/yield.c). */
SW_API extern _Atomic unsigned sw_beat_yields;

/* How many there were, for tests. */
SW_API uint64_t sw_beat_count(void);

#endif
