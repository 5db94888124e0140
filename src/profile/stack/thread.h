/*
 * thread.h - what a thread keeps of its own: caches in front of the tables.
 *
 * All are direct-mapped and belong to one thread, so they need no atomics.
 * When objects have been closed (module.h) the *epoch* of the process moves on,
 * and every thread empties its caches at its next call.
 *
 * They are mapped at a thread's first call, not thread-local data, which
 * would take their 40 KiB and more from every thread's stack, however small.
 */
#ifndef SW_PROFILE_STACK_THREAD_H
#define SW_PROFILE_STACK_THREAD_H

#include "cfi.h"
#include "profile/base/table.h"

#define SW_DEPTH_MAX 32
#define SW_TRAILS 64
#define SW_CACHE_BITS 8
#define SW_CACHE (1 << SW_CACHE_BITS)

/* What is known of a code address: how to leave its frame, and its row in
 * sw_frames. */
typedef struct {
    uintptr_t address; /* 0: an empty entry */
    sw_cfi_rule_t rule;
    bool skipped; /* lies in a layer below the program */
    uint32_t frame;
    uint32_t mapping; /* 0: in none */
} sw_stack_place_t;

/* What is known of a place in Python code; see python.c. */
typedef struct {
    uintptr_t code, instruction;
    uint64_t guard; /* that it is still this code object */
    uint32_t frame; /* 0: not to be shown */
} sw_python_place_t;

/* Where a function was called from: the registers as they are right after it
 * has returned. */
typedef struct {
    uintptr_t pc; /* the return address */
    uintptr_t sp; /* the CFA of the function's frame */
    uintptr_t bp; /* the frame pointer: rbp, x29 */
} sw_caller_t;

/* A walk as it was: where it began, the words that it read from the stack, and
 * what came of it. A walk depends on nothing else. So one that begins at the
 * same place need not be made again while these words are the same, and that
 * is seen faster: the loads do not wait for each other. */
typedef struct {
    sw_caller_t from; /* pc 0: empty */
    uint32_t site;    /* with the Python frames of last time */
    uint16_t natives, pythons;
    uint8_t words;
    bool uses_bp;                      /* did from.bp matter? */
    bool alone;                        /* did nothing matter but from.pc? */
    uint32_t frames[2 * SW_DEPTH_MAX]; /* native, Python */
    struct {
        uintptr_t at, value;
    } word[];
} sw_trail_t;

typedef struct {
    uint32_t epoch; /* 0: all is empty */
    /* calls until the linker is asked again; 0: the thread is at work on all
     * this */
    volatile uint32_t turns;
    uintptr_t stack_low, stack_high;
    struct {
        uintptr_t pc;
        uint32_t site;
    } alone[SW_CACHE]; /* sites of one native frame */
    sw_stack_place_t places[SW_CACHE];
    struct {
        uint64_t hash;
        const struct sw_site *row;
        uint32_t site;
    } stacks[SW_CACHE];
    sw_python_place_t python[SW_CACHE];
    size_t size;         /* of all this */
    uint32_t trail_room; /* words of a trail */
    uint32_t trail_size; /* bytes of a trail */
    char trails[];       /* SW_TRAILS of them */
} sw_thread_t;

/* This thread's, or NULL where there is no memory. */
SW_API extern _Thread_local sw_thread_t *sw_thread_own
    __attribute__((tls_model("initial-exec")));
sw_thread_t *sw_thread_new(int depth);

/* The process's epoch. */
SW_API extern _Atomic uint32_t sw_epoch;

static inline uint32_t sw_thread_cache_slot(uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> (64 - SW_CACHE_BITS));
}

static inline sw_trail_t *sw_thread_trail(sw_thread_t *t,
                                          const sw_caller_t *from)
{
    uint64_t key = (from->pc ^ from->sp << 20) * 0x9e3779b97f4a7c15u;
    return (sw_trail_t *)(void *)(t->trails +
                                  (key >> 58) * (size_t)t->trail_size);
}

/* Empty all of this thread's caches. */
void sw_thread_forget(sw_thread_t *t);

#endif
