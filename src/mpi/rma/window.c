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
 * (sw_finish).
 *
 * A host may have given a window's pages to a network card, for as long as the
 * window lives. So what peers may want of them is shown before, and then they
 * stay as they are (node/arena/show.h).
 */
#include "window.h"

#include "mpi/base/guard.h"
#include "mpi/base/raise.h"
#include "node/arena/show.h"
#include "node/base/settings.h"
#include "node/control.h"

#include <stdlib.h>

_Atomic bool sw_windows_made;
_Atomic int sw_wins;
sw_win_counts_t sw_win_counts;

sw_registry_cache_t sw_win_cache[SW_WINS_CACHED] =
    SW_REGISTRY_EMPTY(SW_WINS_CACHED);
static sw_registry_t wins = SW_REGISTRY(sw_win_t, sw_win_cache);

sw_win_t *sw_win_look_up(MPI_Win win)
{
    return sw_registry_find(&wins, (uintptr_t)win);
}

static void forget(sw_win_t *w)
{
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
    sw_comm_progress();
    if (sw_wait_crowded())
        sw_os_yield();
}

/* One decision ------------------------------------------------------------- */

/* What a member tells the others. */
typedef struct {
    uint64_t at;                /* in its arena's file */
    uint64_t bytes;
    int64_t unit;
    uint64_t block, ring;       /* the first member's; 0: there is no room */
    uint64_t why;               /* the host must serve it; else it may not */
} said_t;

typedef struct {
    void *base;
    int64_t bytes, unit;
} memory_t;

static said_t say(const memory_t *m, int n, int me)
{
    said_t said = {.bytes = (uint64_t)m->bytes, .unit = m->unit};
    if (m->bytes > 0)
        said.at = sw_show_whole(m->base, (size_t)m->bytes);
    said.why = !sw_settings.rma           ? SW_WIN_OFF
               : said.at == UINT64_MAX      ? SW_WIN_MEMORY
                                            : SW_WIN_SERVED;
    if (me == 0) {
        size_t bytes = sw_rma_block_bytes(n);
        said.block = sw_segment_alloc(bytes, bytes, n);
        said.ring = sw_ring_reserve(n);
    }
    return said;
}

/* SW_WIN_SERVED: all are able to. */
static int decide(const said_t *said, int n)
{
    int why = said[0].block && said[0].ring ? SW_WIN_SERVED : SW_WIN_ROOM;
    for (int i = 0; i < n; i++)
        why = sw_min(why, (int)said[i].why);
    return why;
}

static void open_window(sw_win_t *w, const said_t *said, sw_team_t *team,
                        const memory_t *m)
{
    int n = team->n;
    w->share = (sw_rma_share_t){
        (sw_rma_block_t *)(team->peer[0]->control + said[0].block), n,
        team->me};
    w->ring = sw_ring_open(team, said[0].ring);
    w->target = calloc((size_t)n, sizeof *w->target);
    w->members = calloc((size_t)n, sizeof *w->members);
    if (!w->target || !w->members) {
        sw_say("out of memory for a window");
        abort();
    }
    host.Win_get_group(w->handle, &w->group);
    for (int i = 0; i < n; i++) {
        sw_win_target_t *t = &w->target[i];
        t->base = i == team->me ? m->base
                                : team->peer[i]->arena + said[i].at;
        t->bytes = said[i].bytes;
        t->unit = said[i].unit;
    }
    w->starts = w->posts = -1;
    w->ours = true;
}

/* Ask the members, if they could serve it. All of them come here. Returns what
 * they decide. */
static int agree(sw_win_t *w, const memory_t *m, MPI_Comm comm)
{
    int why = SW_WIN_MEMBERS;
    sw_reason_t reason;
    bool may = sw_accelerating() && sw_world_is_there();
    sw_comm_t *c = may ? sw_comm_enter(comm) : NULL;
    sw_ring_t *ring = c && (c->ring || (!c->settled && !c->apart))
                          ? sw_comm_ring(c, &reason) : NULL;
    if (!ring || !ring->team->arena)
        return sw_accelerating() ? why : SW_WIN_OFF;
    sw_team_t *team = ring->team;
    said_t mine = say(m, team->n, team->me);
    said_t *said = calloc((size_t)team->n, sizeof *said);
    if (!said) {
        sw_say("out of memory for a window");
        abort();
    }
    sw_data_t from = sw_data_plain(&mine);
    sw_blocks_t blocks = {.bytes = sizeof *said};
    if (sw_coll_allgather(ring, &from, sizeof mine, said, &blocks) == SW_OK)
        why = decide(said, team->n);
    if (why == SW_WIN_SERVED) {
        open_window(w, said, team, m);
    } else if (team->me == 0) {
        if (mine.block)
            sw_ring_unreserve(team->peer[0], mine.block);
        if (mine.ring)
            sw_ring_unreserve(team->peer[0], mine.ring);
    }
    free(said);
    return why;
}

static void settle(const void *base, MPI_Aint size)
{
    if (base && size > 0)
        (void)sw_show_whole(base, (size_t)size);
}

static void remember(const sw_win_t *w)
{
    bool added = false;
    sw_win_t *old = sw_win_look_up(w->handle);
    if (old)                    /* the host has freed it by itself */
        forget(old);
    if (!sw_registry_put(&wins, (uintptr_t)w->handle, w, &added)) {
        sw_say("out of memory for a window");
        abort();
    }
}

/* The host has made it; `m`: its memory, of a window that may be ours. */
static void made(MPI_Win win, const memory_t *m, MPI_Comm comm)
{
    sw_win_t w = {.handle = win};
    int why = m ? agree(&w, m, comm) : SW_WIN_MADE;
    remember(&w);
    atomic_fetch_add(&sw_win_counts.windows[why], 1);
    atomic_fetch_add(&sw_wins, w.ours);
    if (!w.ours)
        atomic_store(&sw_windows_made, true);
}

/* BEFORE, AFTER: what is done for its memory; M: see made(). */
#define WINDOW(NAME, PARAMETERS, ARGUMENTS, BEFORE, AFTER, M)           \
int sw_MPI_##NAME PARAMETERS                                            \
{                                                                       \
    SW_INSIDE;                                                          \
    BEFORE;                                                             \
    int result = host.NAME ARGUMENTS;                                   \
    if (result == MPI_SUCCESS) {                                        \
        AFTER;                                                          \
        made(*win, M, comm);                                            \
    }                                                                   \
    return result;                                                      \
}

#define OWN settle(base, size)
#define MINE (&(const memory_t){base, size, unit})
#define MADE sw_show_freeze(*(void **)base, (size_t)size)
#define NONE (void)0

WINDOW(Win_create,
       (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
        MPI_Win *win),
       (base, size, unit, info, comm, win), OWN, NONE, MINE)
WINDOW(Win_allocate,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
        MPI_Win *win),
       (size, unit, info, comm, base, win), NONE, MADE, NULL)
WINDOW(Win_allocate_shared,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
        MPI_Win *win),
       (size, unit, info, comm, base, win), NONE, MADE, NULL)
WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win),
       (info, comm, win), NONE, NONE, NULL)
#if SW_LARGE_COUNT
WINDOW(Win_create_c,
       (void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info,
        MPI_Comm comm, MPI_Win *win),
       (base, size, unit, info, comm, win), OWN, NONE, MINE)
WINDOW(Win_allocate_c,
       (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
        void *base, MPI_Win *win),
       (size, unit, info, comm, base, win), NONE, MADE, NULL)
WINDOW(Win_allocate_shared_c,
       (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
        void *base, MPI_Win *win),
       (size, unit, info, comm, base, win), NONE, MADE, NULL)
#endif

int sw_MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    SW_INSIDE;
    settle(base, size);
    return host.Win_attach(win, base, size);
}

/* The end ------------------------------------------------------------------ */

/* No member accesses the memory any more, so its owner may free it. */
static void close_window(sw_win_t *w)
{
    sw_win_will_wait();
    if (sw_coll_barrier(w->ring) == SW_BROKEN)
        sw_ring_give_up(w->ring);
    sw_ring_close(w->ring);
    sw_segment_leave(&w->share.shared->block);
    host.Group_free(&w->group);
    free(w->target);
    free(w->members);
    atomic_fetch_sub(&sw_wins, 1);
}

/* The handle may be another window's as soon as the host has freed it. */
int sw_MPI_Win_free(MPI_Win *win)
{
    SW_INSIDE;
    sw_win_t *w = win ? sw_win_look_up(*win) : NULL;
    if (w) {
        if (w->ours)
            close_window(w);
        forget(w);
    }
    return host.Win_free(win);
}
