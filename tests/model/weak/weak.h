/*
 * weak.h - what the programs for a model checker of weak memory share.
 *
 * Each program includes a protocol's real source, so that the checker judges
 * the accesses as they are compiled. WEAKEN plants an error: it takes one kind
 * of order from all accesses of that source.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

extern void __VERIFIER_assume(int condition);

/* A run whose wait would go on tells nothing: the last look alone counts, since
 * the looks before it only add order. */
#define NEVER __VERIFIER_assume(0)

/* What a program with waits (node/wait.h) defines. */
#define WAITS                                         \
    int sw_wait_spins;                                \
    bool sw_wait_step(sw_wait_t *wait)                \
    {                                                 \
        NEVER;                                        \
        return wait->announced;                       \
    }                                                 \
    void sw_wait_end(sw_wait_t *wait)                 \
    {                                                 \
        wait->announced = false;                      \
    }                                                 \
    void sw_os_futex_wake_all(_Atomic uint32_t *word) \
    {                                                 \
        (void)word;                                   \
    }

#if WEAKEN == 1 /* no release */
#define memory_order_release memory_order_relaxed
#elif WEAKEN == 2 /* no acquire */
#define memory_order_acquire memory_order_relaxed
#elif WEAKEN == 3 /* no fence */
#undef atomic_thread_fence
#define atomic_thread_fence(order) ((void)0)
#elif WEAKEN == 4 /* no sequential consistency */
#undef atomic_load
#undef atomic_store
#undef atomic_fetch_add
#define atomic_load(at) atomic_load_explicit(at, memory_order_relaxed)
#define atomic_store(at, v) atomic_store_explicit(at, v, memory_order_release)
#define atomic_fetch_add(at, v) \
    atomic_fetch_add_explicit(at, v, memory_order_release)
#endif

/* Both at once, then what holds in the end. */
static void run(void *(*a)(void *), void *(*b)(void *))
{
    pthread_t one, two;
    pthread_create(&one, NULL, a, NULL);
    pthread_create(&two, NULL, b, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}
