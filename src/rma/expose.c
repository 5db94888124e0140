/*
 * expose.c - post, start, complete, wait.
 *
 * A target posts by setting its bit at the origin, which clears it when its
 * access begins. No bit is set twice: the target posts again only after it has
 * waited for the origin, which has completed, and so has begun before. For the
 * same reason a target's count of completes holds those of one exposure alone.
 *
 * Memory order: a post and a complete are releases. A member that sees one
 * (acquire) sees the memory as it was for the member that made it.
 */
#include "share.h"

typedef _Atomic uint64_t bits_t;

static bits_t *posts(const sw_rma_share_t *w, int origin, int target)
{
    size_t words = sw_round_up((size_t)w->n, 8 * SW_LINE) / 64;
    bits_t *first = (bits_t *)(void *)&w->shared->member[w->n];
    return first + (size_t)origin * words + target / 64;
}

static uint64_t bit(int target)
{
    return (uint64_t)1 << target % 64;
}

void sw_rma_post(const sw_rma_share_t *w, int origin)
{
    atomic_fetch_or_explicit(posts(w, origin, w->me), bit(w->me),
                             memory_order_release);
    sw_doorbell_ring(&w->shared->member[origin].doorbell);
}

bool sw_rma_await_post(const sw_rma_share_t *w, int target)
{
    bits_t *word = posts(w, w->me, target);
    bool lost = false;
    SW_WAIT_UNLESS(
        lost, atomic_load_explicit(word, memory_order_acquire) & bit(target),
        &w->shared->member[w->me].doorbell);
    atomic_fetch_and_explicit(word, ~bit(target), memory_order_relaxed);
    return !lost;
}

void sw_rma_complete(const sw_rma_share_t *w, int target)
{
    sw_rma_member_t *m = &w->shared->member[target];
    atomic_fetch_add_explicit(&m->completes, 1, memory_order_release);
    sw_doorbell_ring(&m->doorbell);
}

static bool all(const sw_rma_member_t *m, uint32_t origins)
{
    return atomic_load_explicit(&m->completes, memory_order_acquire) >= origins;
}

bool sw_rma_completed(const sw_rma_share_t *w, uint32_t origins)
{
    sw_rma_member_t *m = &w->shared->member[w->me];
    if (!all(m, origins))
        return false;
    atomic_fetch_sub_explicit(&m->completes, origins, memory_order_relaxed);
    return true;
}

bool sw_rma_await_complete(const sw_rma_share_t *w, uint32_t origins)
{
    sw_rma_member_t *m = &w->shared->member[w->me];
    bool lost = false;
    SW_WAIT_UNLESS(lost, all(m, origins), &m->doorbell);
    return !lost && sw_rma_completed(w, origins);
}
