/*
 * wait.h - how a rank waits for another one.
 *
 * Three stages, with bounds set by how crowded the cores are:
 *
 *   spin   plain loads: a cache line travels in 0.1 µs, a system call costs
 *          more. Short where ranks outnumber cores: the awaited event cannot
 *          happen before another rank gets our core.
 *   yield  only where ranks outnumber cores: the core goes to another of them,
 *          and comes back soon. A foreign process would keep it for long.
 *   sleep  on the awaited member's futex word, always with a time limit. Early
 *          where a foreign process wants the core, late where none does.
 *          A wait that no futex word ends (the host alone knows) naps instead,
 *          where ranks are patient: for a quarter of the time it has waited,
 *          and for 0.2 ms at most. Else such a wait never sleeps.
 *
 * In a long wait the host's progress is driven now and then (law
 * 3): a peer may be stuck in the host until we help, so that the value we
 * wait for could otherwise never come. While the host has something whose
 * partners need this rank again and again (its own windows), each step drives
 * the progress, and no rank sleeps: a sleep of a millisecond would be the
 * latency of each of their accesses.
 *
 * The doorbell: `sleepers` counts the waiters that sleep or are about to,
 * `event` is the futex word. The writer of a value stores the value, then looks
 * at `sleepers`, and only if that is not zero advances `event` and wakes. There
 * is deliberately no full fence between the writer's store and its look (it
 * would cost each message 20 ns): the look may be early, the wake-up lost, and
 * then the sleeper's time limit brings it back. The limit starts at 50 µs and
 * grows to 1 ms, which bounds the loss.
 */
#ifndef SW_NODE_WAIT_H
#define SW_NODE_WAIT_H

#include "node/os/os.h"

typedef struct {
    _Atomic uint32_t event;
    _Atomic uint32_t sleepers;
} sw_doorbell_t;

typedef struct {
    sw_doorbell_t *doorbell; /* of the awaited member; NULL: there is none */
    uint64_t start;          /* when the wait left the first spins, ns */
    uint64_t progressed;     /* when the host's progress was last driven, ns */
    uint64_t limit;          /* next sleep's time limit, ns */
    bool wanted;             /* another process wants our core */
    uint32_t event;          /* doorbell's word when we announced ourselves */
    bool announced;          /* we are counted in doorbell->sleepers */
} sw_wait_t;

/* Loads tried before a wait calls sw_wait_step at all. */
extern SW_API int sw_wait_spins;

/* Called between steps of a long wait, with nothing of ours locked. Set by the
 * MPI room; may be NULL. True: what this thread waits for may never come, since
 * a member has died. */
extern SW_API bool (*sw_wait_progress)(void);

/* May a wait nap that no doorbell ends (mpi/base/patience.h)? */
extern SW_API bool sw_wait_naps;

/* Sleeps of this process so far, for --stats. */
extern SW_API _Atomic uint64_t sw_wait_sleeps;

/* So many things of the host need its progress all the time. */
extern SW_API _Atomic int sw_wait_driven;

/* Tell how crowded the cores are: ranks per core that compete for the cores
 * this process may use (1.0: one each). Callable again when more is known. */
SW_API void sw_wait_crowd(double ranks_per_core);
SW_API bool sw_wait_crowded(void);

/* Has the system lately taken this thread's core for another process? */
SW_API bool sw_wait_core_is_wanted(uint64_t now);

/* One step of a long wait; sw_wait_end after the last. Returns what
 * sw_wait_progress has returned, if that was called. */
SW_API bool sw_wait_step(sw_wait_t *wait);
SW_API void sw_wait_end(sw_wait_t *wait);

/* One turn of a wait for a rank that does nothing but copy a piece: it ends
 * soon, unless the system has taken that rank's core. */
static inline void sw_wait_turn(unsigned *turns)
{
    if (sw_wait_crowded() || ++*turns > 10000)
        sw_os_yield();
    else
        sw_os_pause();
}

/* Wait until `condition` holds, or `lost` is true: then it may never hold.
 * `ring` is the sw_doorbell_t* of the member that will make it so. */
#define SW_WAIT_UNLESS(lost, condition, ring)       \
    do {                                            \
        int left_ = sw_wait_spins;                  \
        while (!(condition)) {                      \
            if (sw_likely(left_ > 0)) {             \
                left_--;                            \
                continue;                           \
            }                                       \
            sw_wait_t wait_ = {.doorbell = (ring)}; \
            while (!(lost) && !(condition))         \
                if (sw_wait_step(&wait_))           \
                    (lost) = true;                  \
            sw_wait_end(&wait_);                    \
            break;                                  \
        }                                           \
    } while (0)

/* The same for what will come in any case. */
#define SW_WAIT_UNTIL(condition, ring)               \
    do {                                             \
        bool never_ = false;                         \
        do {                                         \
            never_ = false;                          \
            SW_WAIT_UNLESS(never_, condition, ring); \
        } while (never_);                            \
    } while (0)

/* Ring after a store that another process may sleep for. */
static inline void sw_doorbell_ring(sw_doorbell_t *doorbell)
{
    if (sw_unlikely(
            atomic_load_explicit(&doorbell->sleepers, memory_order_relaxed))) {
        atomic_fetch_add_explicit(&doorbell->event, 1, memory_order_release);
        sw_os_futex_wake_all(&doorbell->event);
    }
}

#endif
