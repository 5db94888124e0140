/*
 * windows.c - epochs of one-sided windows, counted (watch/watch.h).
 *
 * A window is found by its handle, in a table with open addresses. A program
 * that has more windows than rows shows the first ones.
 */
#include "watched.h"

#include "mpi/base/guard.h"

#include <string.h>

enum { ROWS = SW_WATCH_WINDOWS };

static uint32_t place_of(MPI_Win win)
{
    return (uint32_t)sw_host_handle_mix((uintptr_t)win) % (ROWS - 1);
}

/* Rows that were used stay in the way of look-ups: a row is free for good, or
 * its handle is 0. Row 0 is none: it stands for what is not found. */
static uint32_t find(MPI_Win win)
{
    uint32_t at = place_of(win);
    for (uint32_t i = 0; i < ROWS - 1; i++) {
        uint32_t row = 1 + (at + i) % (ROWS - 1);
        const sw_watch_window_t *v = &sw_watch->windows[row];
        if (sw_likely(v->comm && v->handle == (uintptr_t)win))
            return row;
        if (!v->number)
            break;
    }
    return 0;
}

static void name_group(int32_t ranks[SW_WATCH_GROUP], int n)
{
    for (int i = n < 0 ? 0 : n; i < SW_WATCH_GROUP; i++)
        ranks[i] = SW_WATCH_NOBODY;
}

void sw_watched_win_made(MPI_Win win, MPI_Comm comm)
{
    sw_watched_comm_t *c = sw_watched_comm(comm);
    uint32_t at = place_of(win), row = 0;
    if (!c->row)
        return;
    sw_watch_lock(SW_WATCH_LOCK_WINDOWS);
    for (uint32_t i = 0; i < ROWS - 1 && !row; i++) {
        row = 1 + (at + i) % (ROWS - 1);
        if (sw_watch->windows[row].comm)
            row = 0;
    }
    sw_watch_window_t *v = &sw_watch->windows[row];
    if (row) {
        *v = (sw_watch_window_t){.handle = (uintptr_t)win,
                                 .number = (uint32_t)++c->windows,
                                 .locked = SW_WATCH_NOBODY};
        name_group(v->origins, 0);
        name_group(v->targets, 0);
        __atomic_store_n(&v->comm, c->row, __ATOMIC_RELEASE);
    }
    sw_watch_unlock(SW_WATCH_LOCK_WINDOWS);
    if (!row)
        sw_watch_lose(windows);
}

void sw_watched_win_freed(MPI_Win win)
{
    uint32_t row = find(win);
    if (row)
        __atomic_store_n(&sw_watch->windows[row].comm, 0, __ATOMIC_RELEASE);
}

/* NULL: not known. */
static sw_watch_window_t *meet(sw_watched_t *w, MPI_Win win)
{
    uint32_t row = find(win);
    sw_watch_window_t *v = row ? &sw_watch->windows[row] : NULL;
    w->thread->call.window = row;
    w->thread->call.comm = v ? v->comm : 0;
    w->thread->call.has |= SW_WATCH_HAS_WINDOW | SW_WATCH_HAS_COMM;
    return v;
}

static int32_t world_rank(const sw_watch_window_t *v, int rank)
{
    return sw_watched_rank(sw_watched_comm_of(v->comm), rank);
}

void sw_watched_win(sw_watched_t *w, MPI_Win win)
{
    (void)meet(w, win);
}

void sw_watched_win_target(sw_watched_t *w, MPI_Win win, int rank)
{
    const sw_watch_window_t *v = meet(w, win);
    w->thread->call.peer = v ? world_rank(v, rank) : SW_WATCH_NOBODY;
    w->thread->call.tag = SW_WATCH_NOBODY;
    w->thread->call.has |= SW_WATCH_HAS_PEER;
}

void sw_watched_win_fence(sw_watched_t *w, MPI_Win win)
{
    sw_watch_window_t *v = meet(w, win);
    w->thread->call.number = v ? ++v->fences : 0;
    w->thread->call.has |= SW_WATCH_HAS_NUMBER;
}

/* Ranks of the group in MPI_COMM_WORLD. */
static void tell_group(MPI_Group group, int32_t ranks[SW_WATCH_GROUP],
                       int32_t *count)
{
    SW_INSIDE_LOCAL;
    int n = 0;
    sw_members_t *m = host.Group_size(group, &n) == MPI_SUCCESS
                          ? sw_members_of(group, n)
                          : NULL;
    int named = n < SW_WATCH_GROUP ? n : SW_WATCH_GROUP;
    for (int i = 0; m && i < named; i++)
        ranks[i] = m->rank[i] >= 0 ? m->rank[i] : SW_WATCH_FOREIGN;
    name_group(ranks, m ? named : 0);
    *count = m ? n : 0;
    sw_members_drop(m);
}

void sw_watched_win_group(sw_watched_t *w, MPI_Win win, MPI_Group group,
                          bool starts)
{
    sw_watch_window_t *v = meet(w, win);
    if (!v || group == MPI_GROUP_NULL)
        return;
    if (starts) {
        tell_group(group, v->targets, &v->target_count);
        v->starts++;
    } else {
        tell_group(group, v->origins, &v->origin_count);
        v->posts++;
    }
}

void sw_watched_win_ended(const sw_watched_t *w, bool starts)
{
    sw_watch_window_t *v = &sw_watch->windows[w->thread->call.window];
    if (v->comm && starts)
        v->completes++;
    else if (v->comm)
        v->waits++;
}

void sw_watched_win_locked(const sw_watched_t *w, bool exclusive)
{
    sw_watch_window_t *v = &sw_watch->windows[w->thread->call.window];
    if (!v->comm)
        return;
    v->locked = w->thread->call.peer;
    v->exclusive = exclusive;
    v->locks++;
}

void sw_watched_win_unlocked(const sw_watched_t *w)
{
    sw_watch_window_t *v = &sw_watch->windows[w->thread->call.window];
    if (v->comm && v->locks > 0 && --v->locks == 0)
        v->locked = SW_WATCH_NOBODY;
}
