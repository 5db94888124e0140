/*
 * lock.c - passive target: locks, flushes, and MPI_Win_sync.
 *
 * An access is over when its call returns. So all kinds of flushes only keep
 * the processor from putting a store off behind a later load. After a short
 * update, a locked instruction, it has put none off.
 */
#include "calls.h"

/* May this member take a lock now? A fence's epoch may end silently. */
static bool may_lock(const sw_win_t *w, const sw_win_target_t *t)
{
    return !atomic_load(&w->all) && w->starts < 0 &&
           (t ? !atomic_load(&t->access) : !atomic_load(&w->locks));
}

bool sw_win_lock(sw_win_t *w, int type, int rank, int assertion, int *rc)
{
    bool exclusive = type == MPI_LOCK_EXCLUSIVE;
    if (!sw_win_is_target(w, rank) || assertion & ~MPI_MODE_NOCHECK ||
        (!exclusive && type != MPI_LOCK_SHARED))
        return false;
    sw_win_target_t *t = &w->target[rank];
    if (!may_lock(w, t)) {
        *rc = sw_win_raise(w, MPI_ERR_RMA_SYNC);
        return true;
    }
    int how = assertion   ? SW_WIN_UNCHECKED
              : exclusive ? SW_WIN_EXCLUSIVE
                          : SW_WIN_SHARED;
    sw_win_will_wait();
    w->fenced = false;
    if (how != SW_WIN_UNCHECKED &&
        !sw_rma_lock(&w->share, rank, exclusive, atomic_load(&w->locks) > 0)) {
        *rc = sw_win_lost(w);
        return true;
    }
    atomic_fetch_add(&w->locks, 1);
    atomic_store(&t->access, how);
    sw_win_count(SW_WIN_LOCK, 0);
    return true;
}

bool sw_win_unlock(sw_win_t *w, int rank, int *rc)
{
    sw_win_target_t *t = sw_win_is_target(w, rank) ? &w->target[rank] : NULL;
    int how = t ? atomic_load(&t->access) & SW_WIN_LOCKED : 0;
    if (!how)
        return false;
    atomic_store(&t->access, 0);
    if (how != SW_WIN_UNCHECKED)
        sw_rma_unlock(&w->share, rank, how == SW_WIN_EXCLUSIVE);
    atomic_fetch_sub(&w->locks, 1);
    sw_win_turn(w);
    return true;
}

bool sw_win_lock_all(sw_win_t *w, int assertion, int *rc)
{
    if (assertion & ~MPI_MODE_NOCHECK)
        return false;
    if (!may_lock(w, NULL)) {
        *rc = sw_win_raise(w, MPI_ERR_RMA_SYNC);
        return true;
    }
    sw_win_will_wait();
    w->fenced = false;
    if (!assertion && !sw_rma_lock_all(&w->share, false)) {
        *rc = sw_win_lost(w);
        return true;
    }
    atomic_fetch_add(&w->locks, 1);
    atomic_store(&w->all, assertion ? SW_WIN_UNCHECKED : SW_WIN_SHARED);
    sw_win_count(SW_WIN_LOCK, 0);
    return true;
}

bool sw_win_unlock_all(sw_win_t *w, int *rc)
{
    int how = atomic_load(&w->all);
    if (!how)
        return false;
    atomic_store(&w->all, 0);
    if (how != SW_WIN_UNCHECKED)
        sw_rma_unlock_all(&w->share);
    atomic_fetch_sub(&w->locks, 1);
    sw_win_turn(w);
    return true;
}

/* May a store of this member's still be put off? Of several threads each would
 * know of its own alone. Elsewhere a locked instruction is no fence. */
static bool has_stored(const sw_win_t *w)
{
#ifdef __x86_64__
    return w->stored || w->share.threads;
#else
    (void)w;
    return true;
#endif
}

static bool flush(sw_win_t *w, bool locked)
{
    if (!locked)
        return false;
    if (has_stored(w)) {
        atomic_thread_fence(memory_order_seq_cst);
        w->stored = false;
    }
    sw_win_count(SW_WIN_FLUSH, 0);
    sw_win_turn(w);
    return true;
}

static bool is_locked(const sw_win_t *w, int rank)
{
    return sw_win_is_target(w, rank) &&
           (atomic_load_explicit(&w->all, memory_order_relaxed) ||
            atomic_load_explicit(&w->target[rank].access,
                                 memory_order_relaxed) &
                SW_WIN_LOCKED);
}

static bool any_locked(const sw_win_t *w)
{
    return atomic_load_explicit(&w->locks, memory_order_relaxed) > 0;
}

bool sw_win_flush(sw_win_t *w, int rank, int *rc)
{
    return flush(w, is_locked(w, rank));
}

bool sw_win_flush_all(sw_win_t *w, int *rc)
{
    return flush(w, any_locked(w));
}

bool sw_win_sync(sw_win_t *w, int *rc)
{
    w->stored = true;
    return flush(w, true);
}
