/*
 * board.h - when this process came to its calls, for its partners to see.
 *
 * Before a message or a collective, a process writes the time on its board,
 * in shared memory, under a key that the partner knows, too: communicator,
 * partner, tag and how many came before. A partner that has waited looks
 * there, and learns since when it need not have waited.
 *
 * The board is a table without chains: an entry that falls on another's place
 * replaces it, and a look finds the key it wants, or nothing.
 */
#ifndef SW_PROFILE_RECORD_BOARD_H
#define SW_PROFILE_RECORD_BOARD_H

#include "node/base/base.h"

#define SW_BOARD_PLACES 4096u

typedef struct {
    _Atomic uint64_t key, ticks;
} sw_stamp_t;

typedef struct {
    sw_stamp_t stamp[SW_BOARD_PLACES];
    /* On the board of a node's first rank: see recorder.h. */
    _Alignas(SW_LINE) _Atomic uint32_t watchers;
} sw_board_t;

/* One key from two numbers. Never 0. */
static inline uint64_t sw_board_key(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u ^ b;
    x = (x ^ x >> 32) * 0xbf58476d1ce4e5b9u;
    x ^= x >> 29;
    return x ? x : 1;
}

/* The key of the n-th of a series, from a number for its (n / SW_BOARD_RUN)-th
 * run. The places of a run lie side by side, so that most stores find a cache
 * line that the owner has; the next run lies elsewhere, so that no two series
 * stay in each other's way. Never 0. */
#define SW_BOARD_RUN 8u
static inline uint64_t sw_board_in_run(uint64_t run, uint64_t n)
{
    return (run & ~(uint64_t)(SW_BOARD_RUN - 1)) | n % SW_BOARD_RUN |
           (uint64_t)1 << 63;
}

static inline uint64_t sw_board_nth(uint64_t series, uint64_t n)
{
    return sw_board_in_run(sw_board_key(series, n / SW_BOARD_RUN), n);
}

/* Only the owner writes. While an entry changes, its key is 0: the store of
 * the ticks comes after that of the 0 (release fence) and before that of the
 * key (release). Two threads of the owner that write one place at once may
 * leave one's key with the other's ticks: a time that is off in one sample. */
static inline void sw_board_post(sw_board_t *board, uint64_t key,
                                 uint64_t ticks)
{
    sw_stamp_t *s = &board->stamp[key % SW_BOARD_PLACES];
    atomic_store_explicit(&s->key, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&s->ticks, ticks, memory_order_relaxed);
    atomic_store_explicit(&s->key, key, memory_order_release);
}

/* The ticks under a key, or 0. The key is read on both sides of the ticks: if
 * these are of a later entry, then so is the second key, or 0 (the acquire
 * fence pairs with the owner's release fence). */
static inline uint64_t sw_board_look(const sw_board_t *board, uint64_t key)
{
    sw_stamp_t *s = (sw_stamp_t *)(uintptr_t)&board
                        ->stamp[key % SW_BOARD_PLACES];
    if (atomic_load_explicit(&s->key, memory_order_acquire) != key)
        return 0;
    uint64_t ticks = atomic_load_explicit(&s->ticks, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&s->key, memory_order_relaxed) == key ? ticks
                                                                      : 0;
}

#endif
