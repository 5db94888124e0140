/*
 * window.c - the making and freeing of windows; see window.h.
 *
 * The host has made the window at every member before the members ask each
 * other. So a member whose arguments the host refuses leaves no member waiting
 * that would not wait in the host.
 *
 * The host moves one-sided data, and synchronises its own windows, while a
 * rank is in MPI, in a collective for instance. Programs count on that. So once
 * the host has a window, our collectives drive its progress at their end
 * (sw_finish), and our waits all the time (node/wait.h).
 *
 * A host may have given a window's pages to a network card, for as long as the
 * window lives. So what peers may want of them is shown before, and then they
 * stay as they are (node/arena/show.h).
 */
#include "window.h"

#include "mpi/base/guard.h"
#include "mpi/base/progress.h"
#include "mpi/base/raise.h"
#include "node/arena/show.h"
#include "node/base/settings.h"

#include <stdlib.h>

_Atomic int sw_wins;
sw_win_counts_t sw_win_counts;

sw_registry_cache_t sw_win_cache[SW_WINS_CACHED] = SW_REGISTRY_EMPTY(
    SW_WINS_CACHED);
static sw_registry_t wins = SW_REGISTRY(sw_win_t, sw_win_cache);

sw_win_t *sw_win_look_up(MPI_Win win)
{
    return sw_registry_find(&wins, (uintptr_t)win);
}

static void forget(sw_win_t *w)
{
    if (!w->ours)
        atomic_fetch_sub(&sw_wait_driven, 1);
    sw_registry_remove(&wins, w);
    sw_registry_spare(&wins, w);
}

int sw_win_raise(const sw_win_t *w, int error)
{
    return sw_raise_on_window(w->handle, error);
}

int sw_win_lost(const sw_win_t *w)
{
    return sw_win_raise(w, MPI_ERR_OTHER);
}

void sw_win_count_slow(int deed, size_t bytes)
{
    atomic_fetch_add_explicit(&sw_win_counts.calls[deed], 1,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&sw_win_counts.bytes[deed], (int64_t)bytes,
                              memory_order_relaxed);
}

void sw_win_turn_slow(void)
{
    sw_win_will_wait();
    sw_progress();
    if (sw_wait_crowded())
        sw_os_yield();
}

/* Shows memory. Returns where peers find it in the arena. */
uint64_t sw_win_settle(const void *base, MPI_Aint size)
{
    return base && size > 0 ? sw_show_whole(base, (size_t)size) : UINT64_MAX;
}

/* The same for what the host has allocated: its pages stay as they are. */
static uint64_t settled(const void *base, MPI_Aint size)
{
    sw_show_freeze(base, (size_t)size);
    return sw_win_settle(base, size);
}

static void remember(const sw_win_t *w)
{
    bool added = false;
    sw_win_t *old = sw_win_look_up(w->handle);
    if (old) /* the host has freed it by itself */
        forget(old);
    if (!sw_registry_put(&wins, (uintptr_t)w->handle, w, &added)) {
        sw_say("out of memory for a window");
        abort();
    }
}

static void made(MPI_Win win, const sw_win_memory_t *m, MPI_Comm comm)
{
    sw_win_t w = {.handle = win};
    int why = sw_win_decide(&w, m, comm);
    remember(&w);
    atomic_fetch_add(&sw_win_counts.windows[why], 1);
    atomic_fetch_add(&sw_wins, w.ours);
    if (!w.ours) {
        atomic_store(&sw_windows_made, true);
        atomic_fetch_add(&sw_wait_driven, 1);
    }
}

int sw_win_created(int rc, void *base, MPI_Aint size, int64_t unit,
                   uint64_t shown, MPI_Comm comm, const MPI_Win *win)
{
    if (rc == MPI_SUCCESS)
        made(*win,
             &(const sw_win_memory_t){SW_WIN_CREATED, base, size, unit, shown},
             comm);
    return rc;
}

/* `base`: the address of a pointer to it, as MPI has that. */
int sw_win_allocated(int rc, sw_win_kind_t kind, void *base, MPI_Aint size,
                     int64_t unit, MPI_Comm comm, const MPI_Win *win)
{
    if (rc == MPI_SUCCESS) {
        void *at = *(void **)base;
        made(*win,
             &(const sw_win_memory_t){kind, at, size, unit, settled(at, size)},
             comm);
    }
    return rc;
}

int sw_win_created_dynamic(int rc, MPI_Comm comm, const MPI_Win *win)
{
    if (rc == MPI_SUCCESS)
        made(*win,
             &(const sw_win_memory_t){SW_WIN_DYNAMIC, NULL, INT64_MAX, 1,
                                      UINT64_MAX},
             comm);
    return rc;
}

int sw_MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    SW_INSIDE;
    uint64_t offset = sw_win_settle(base, size);
    int result = host.Win_attach(win, base, size);
    sw_win_t *w = sw_win(win);
    if (w && result == MPI_SUCCESS && offset != UINT64_MAX)
        sw_win_attached(w, base, size, offset);
    return result;
}

int sw_MPI_Win_detach(MPI_Win win, const void *base)
{
    SW_INSIDE;
    sw_win_t *w = sw_win(win);
    if (w)
        sw_win_detached(w, base);
    return host.Win_detach(win, base);
}

/* The end ------------------------------------------------------------------ */

/* No member accesses the memory any more, so its owner may free it. */
static void close_window(sw_win_t *w)
{
    sw_win_will_wait();
    if (sw_coll_barrier(w->sequence) == SW_BROKEN)
        sw_sequence_give_up(w->sequence);
    sw_sequence_close(w->sequence);
    sw_segment_leave(&w->share.shared->block);
    host.Group_free(&w->group);
    free(w->target);
    free(w->members);
    atomic_fetch_sub(&sw_wins, 1);
}

/* Has the program functions that the end of a window calls? */
static _Atomic bool has_callbacks;

int sw_MPI_Win_create_keyval(MPI_Win_copy_attr_function *copy,
                             MPI_Win_delete_attr_function *end, int *keyval,
                             void *state)
{
    atomic_store(&has_callbacks, true);
    return host.Win_create_keyval(copy, end, keyval, state);
}

/* The handle may be another window's as soon as the host has freed it. */
int sw_MPI_Win_free(MPI_Win *win)
{
    SW_INSIDE_STILL;
    SW_AWAY_BEAT_IF(!atomic_load(&has_callbacks));
    sw_win_t *w = win ? sw_win_look_up(*win) : NULL;
    if (w) {
        if (w->ours)
            close_window(w);
        forget(w);
    }
    return host.Win_free(win);
}
