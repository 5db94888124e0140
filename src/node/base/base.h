/*
 * base.h - what every room shares: visibility, branch hints, cache lines.
 *
 * A cache line is taken as 64 bytes for sharing decisions. Structures that two
 * cores write alternately are padded to SW_PAIR (two lines), because the
 * adjacent-line prefetcher of x86 machines fetches lines in pairs.
 */
#ifndef SW_NODE_BASE_BASE_H
#define SW_NODE_BASE_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The library is built with hidden visibility; SW_API marks what a flavour
 * library or the program itself may call. */
#define SW_API __attribute__((visibility("default")))

#define SW_LINE 64
#define SW_PAIR 128
#define SW_PAGE 4096

#define sw_likely(x) __builtin_expect(!!(x), 1)
#define sw_unlikely(x) __builtin_expect(!!(x), 0)

/* sw_assert checks an invariant, which a file's head states in prose. A build
 * with STRAIGHTWAY_ASSERT evaluates the condition, and ends the process with a
 * message where it is false. Any other build compiles the condition and never
 * evaluates it: it must have no side effects. */
#ifdef STRAIGHTWAY_ASSERT
#define sw_assert(condition) \
    (sw_likely(condition)    \
         ? (void)0           \
         : sw_assert_failed(#condition, __FILE__, __LINE__, __func__))
#else
#define sw_assert(condition) ((void)(false && (condition)))
#endif

/* Say what did not hold, and where, and abort. */
SW_API void sw_assert_failed(const char *condition, const char *file, int line,
                             const char *function)
    __attribute__((noreturn, cold));

/* Ask for a line to write it soon: its other holders lose it meanwhile. */
static inline void sw_prefetch_write(const void *p)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
    __builtin_prefetch(p, 1);
#endif
}

/* So many bytes will be needed soon. Any address will do, NULL too. */
static inline void sw_prefetch(const void *p, size_t size)
{
    for (uintptr_t at = (uintptr_t)p; at < (uintptr_t)p + size; at += SW_LINE)
        __builtin_prefetch((const void *)at);
}

static inline size_t sw_min(size_t a, size_t b)
{
    return a < b ? a : b;
}
static inline size_t sw_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Add to a counter and return its new value. Where one thread at a time comes
 * here (`shared` is false), no locked instruction is needed. */
#define sw_counter_add(at, by, shared, order)                                  \
    ((shared)                                                                  \
         ? atomic_fetch_add_explicit(at, by, order) + (by)                     \
         : sw_counter_set(at, atomic_load_explicit(at, memory_order_relaxed) + \
                                  (by)))
#define sw_counter_set(at, value)                              \
    __extension__({                                            \
        __typeof__(value) set_ = (value);                      \
        atomic_store_explicit(at, set_, memory_order_release); \
        set_;                                                  \
    })

/* Round n up to a multiple of the power of two `to`. */
static inline size_t sw_round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

#endif
