/*
 * threads.c - a rank's threads that call MPI at once; see virtual.h.
 *
 * Each thread that has called MPI has a number, and a clock of its own
 * (rank.h). A thread puts its operations under the rank's lock. Where the
 * thread changes, an operation before them names the new one.
 */
#include "rank.h"

#include "node/os/os.h"

void sw_virtual_lock(void)
{
    if (sw_unlikely(sw_virtual_shared))
        pthread_mutex_lock(&sw_virtual_rank.lock);
}

void sw_virtual_unlock(void)
{
    if (sw_unlikely(sw_virtual_shared))
        pthread_mutex_unlock(&sw_virtual_rank.lock);
}

void sw_virtual_hold(void)
{
    if (!sw_virtual_shared || sw_virtual_thread.holds)
        return;
    sw_virtual_lock();
    sw_virtual_thread.holds = true;
}

void sw_virtual_release(void)
{
    if (!sw_virtual_thread.holds)
        return;
    sw_virtual_thread.holds = false;
    sw_virtual_unlock();
}

/* One that no thread has; more threads than that share the last. */
sw_virtual_clock_t *sw_virtual_new_clock(void)
{
    sw_virtual_clock_t *c = NULL;
    sw_virtual_lock();
    for (uint32_t i = 0; i < SW_FEED_THREADS && !c; i++)
        if (!atomic_load(&sw_virtual_clocks[i].used))
            c = &sw_virtual_clocks[i];
    if (!c)
        c = &sw_virtual_clocks[SW_FEED_THREADS - 1];
    if (!atomic_load(&c->used)) {
        *c = (sw_virtual_clock_t){.number = (uint32_t)(c - sw_virtual_clocks),
                                  .fresh = true,
                                  .last = c->last,
                                  .passed = sw_virtual_thread.early};
        sw_virtual_thread.early = 0;
        c->waits = sw_os_waits();
    }
    atomic_store(&c->used, true);
    if (sw_virtual_rank.threads <= c->number)
        sw_virtual_rank.threads = c->number + 1;
    if (sw_virtual_rank.threads > sw_virtual_cores)
        sw_virtual_crowded = true;
    sw_virtual_unlock();
    sw_virtual_thread.clock = c;
    pthread_setspecific(sw_virtual_rank.key, c);
    return c;
}

uint32_t sw_virtual_number(void)
{
    return sw_virtual_mine()->number;
}

/* The thread ends: its number may be another's. */
static void thread_ends(void *of)
{
    sw_virtual_clock_t *c = of;
    sw_virtual_lock();
    if (c->number != SW_FEED_THREADS - 1) {
        sw_virtual_thread.clock = c;
        if (!c->fresh)
            sw_virtual_put(&(sw_vop_t){
                .kind = SW_OP_THREAD, .what = SW_THREAD_ENDS, .peer = -1});
        sw_virtual_thread.clock = NULL;
        atomic_store(&c->used, false);
    }
    sw_virtual_unlock();
}

void sw_virtual_threads_start(void)
{
    for (uint32_t i = 0; i < SW_FEED_THREADS; i++)
        sw_virtual_clocks[i].fresh = true;
    pthread_key_create(&sw_virtual_rank.key, thread_ends);
    sw_virtual_thread.clock = NULL;
    sw_virtual_clocks[0].waits = sw_os_waits();
    if (sw_virtual_shared)
        sw_virtual_new_clock();
}

void sw_virtual_thread_comes(void)
{
    sw_virtual_clock_t *c = sw_virtual_mine();
    c->slept |= sw_os_waits() != c->waits;
    atomic_store(&c->puts, 0);
    atomic_store(&c->calls, true);
}

void sw_virtual_thread_leaves(void)
{
    sw_virtual_clock_t *c = sw_virtual_mine();
    atomic_store(&c->calls, false);
    c->waits = sw_os_waits();
}

void sw_virtual_thread_slept(void)
{
    sw_virtual_clock_t *c = sw_virtual_mine();
    c->waits += c->waits != sw_os_waits();
}

/* The thread goes on no earlier than another has come to where it is. */
static bool put_after(const sw_virtual_clock_t *other)
{
    return sw_virtual_put_only(&(sw_vop_t){
        .kind = SW_OP_THREAD,
        .what = SW_THREAD_AFTER,
        .peer = -1,
        .request = other->number,
        .tag = atomic_load(&other->calls) ? atomic_load(&other->puts) : 0});
}

/* A new one begins where the first one is: that has made it, or it was made in
 * its time. */
bool sw_virtual_put_thread(sw_virtual_clock_t *c)
{
    if (sw_virtual_rank.current != c->number || c->fresh) {
        sw_virtual_rank.current = c->number;
        if (!sw_virtual_put_only(&(sw_vop_t){.kind = SW_OP_THREAD,
                                             .what = SW_THREAD_GOES,
                                             .request = c->number,
                                             .peer = sw_os_thread_id()}))
            return false;
    }
    const sw_virtual_clock_t *first = sw_virtual_clocks;
    bool good = !c->fresh || c == first || put_after(first);
    for (uint32_t i = 0; c->slept && !c->fresh && i < sw_virtual_rank.threads;
         i++)
        if (i != c->number && !sw_virtual_clocks[i].fresh)
            good = good && put_after(&sw_virtual_clocks[i]);
    c->slept = c->fresh = false;
    return good;
}
