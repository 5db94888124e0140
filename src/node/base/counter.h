/*
 * counter.h - the processor's counter, which ticks at a constant pace.
 *
 * The compilers' own header of it declares all vector instructions, and costs
 * each file that includes it half a second. The builtin needs no header.
 */
#ifndef SW_NODE_BASE_COUNTER_H
#define SW_NODE_BASE_COUNTER_H

#include <stdint.h>

/* 0 on processors whose counter is not known here. */
static inline uint64_t sw_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    return 0;
#endif
}

#endif
