/*
 * epoch.c - active target: fence; post, start, complete, wait and test.
 *
 * A fence is a barrier of the members, whatever is asserted: the members do not
 * put accesses off, so they must not begin before their targets have come. For
 * the same reason the first access to a target waits for its post, and so does
 * MPI_Win_complete where there was no access. MPI_Win_start waits for nothing,
 * as with the hosts.
 */
#include "calls.h"

#define FENCES                                                \
    (MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | \
     MPI_MODE_NOSUCCEED)
#define POSTS (MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)

static bool passive(const sw_win_t *w)
{
    return atomic_load_explicit(&w->locks, memory_order_relaxed) > 0;
}

bool sw_win_fence(sw_win_t *w, int assertion, int *rc)
{
    if (assertion & ~FENCES)
        return false;
    if (passive(w) || w->starts >= 0 || w->posts >= 0) {
        *rc = sw_win_raise(w, MPI_ERR_RMA_SYNC);
        return true;
    }
    sw_win_will_wait();
    w->fenced = !(assertion & MPI_MODE_NOSUCCEED);
    sw_win_count(SW_WIN_FENCE, 0);
    if (sw_coll_barrier(w->sequence) == SW_BROKEN) {
        sw_sequence_give_up(w->sequence);
        *rc = sw_win_lost(w);
    }
    return true;
}

/* A group's members by their ranks in the window, which `to` has room for.
 * Less than 0: it is none. */
static int members_of(const sw_win_t *w, MPI_Group group, int *to)
{
    int n = 0;
    if (group == MPI_GROUP_NULL || host.Group_size(group, &n) != MPI_SUCCESS ||
        n > w->share.n)
        return -1;
    SW_ARRAY(int, ranks, n);
    for (int i = 0; i < n; i++)
        ranks[i] = i;
    if (n && host.Group_translate_ranks(group, n, ranks, w->group, to) !=
                 MPI_SUCCESS)
        return -1;
    for (int i = 0; i < n; i++)
        if (!sw_win_is_target(w, to[i]))
            return -1;
    return n;
}

bool sw_win_start(sw_win_t *w, MPI_Group group, int assertion, int *rc)
{
    if (group == MPI_GROUP_NULL || assertion & ~MPI_MODE_NOCHECK)
        return false;
    int n = w->starts >= 0 || passive(w) ? -1
                                         : members_of(w, group, w->members);
    if (n < 0) {
        *rc = sw_win_raise(w, MPI_ERR_RMA_SYNC);
        return true;
    }
    w->fenced = false;
    w->starts = n;
    sw_win_count(SW_WIN_START, 0);
    for (int i = 0; i < n; i++)
        atomic_store(&w->target[w->members[i]].access,
                     SW_WIN_STARTED | SW_WIN_UNPOSTED);
    return true;
}

/* Several threads may come to a target; one of them uses its post up. */
bool sw_win_await_post(const sw_win_t *w, int target)
{
    _Atomic int *access = &w->target[target].access;
    int seen = SW_WIN_STARTED | SW_WIN_UNPOSTED;
    sw_win_will_wait();
    if (atomic_compare_exchange_strong(access, &seen,
                                       SW_WIN_STARTED | SW_WIN_AWAITED)) {
        bool posted = sw_rma_await_post(&w->share, target);
        atomic_store(access, SW_WIN_STARTED);
        return posted;
    }
    while (atomic_load(access) & SW_WIN_AWAITED)
        sw_win_turn_slow();
    return true;
}

/* Open MPI takes this for right on a window that has seen no epoch. */
static bool complete_nothing(const sw_win_t *w, int *rc)
{
#ifdef OMPI_MAJOR_VERSION
    *rc = sw_win_raise(w, MPI_ERR_RMA_SYNC);
    return true;
#else
    return false;
#endif
}

bool sw_win_complete(sw_win_t *w, int *rc)
{
    if (w->starts < 0)
        return complete_nothing(w, rc);
    for (int i = 0; i < w->starts; i++) {
        _Atomic int *access = &w->target[w->members[i]].access;
        if (atomic_load(access) & SW_WIN_UNPOSTED &&
            !sw_win_await_post(w, w->members[i]))
            *rc = sw_win_lost(w);
        atomic_store(access, 0);
        sw_rma_complete(&w->share, w->members[i]);
    }
    w->starts = -1;
    sw_win_turn(w);
    return true;
}

bool sw_win_post(sw_win_t *w, MPI_Group group, int assertion, int *rc)
{
    if (group == MPI_GROUP_NULL || assertion & ~POSTS)
        return false;
    SW_ARRAY(int, origins, w->share.n);
    int n = w->posts >= 0 ? -1 : members_of(w, group, origins);
    if (n < 0) {
        *rc = sw_win_raise(w, MPI_ERR_RMA_SYNC);
        return true;
    }
    w->fenced = false;
    w->posts = n;
    for (int i = 0; i < n; i++)
        sw_rma_post(&w->share, origins[i]);
    return true;
}

bool sw_win_wait(sw_win_t *w, int *rc)
{
    if (w->posts < 0)
        return false;
    sw_win_will_wait();
    if (!sw_rma_await_complete(&w->share, (uint32_t)w->posts))
        *rc = sw_win_lost(w);
    w->posts = -1;
    return true;
}

bool sw_win_test(sw_win_t *w, int *flag, int *rc)
{
    if (w->posts < 0 || !flag)
        return false;
    *flag = sw_rma_completed(&w->share, (uint32_t)w->posts);
    if (*flag)
        w->posts = -1;
    else
        sw_win_turn_slow();
    return true;
}
