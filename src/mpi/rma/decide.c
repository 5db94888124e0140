/*
 * decide.c - whose a window is: see window.h.
 *
 * Each member says where its memory is:
 *
 *   shown     in its arena, which all have mapped
 *   placed    in a file that the host has mapped at all members, as hosts do
 *             for the windows that they allocate: a member finds the same file
 *             among its own mappings
 *   to come   memory is attached later. What is not in the arena then is far
 *             (far.h), so all members need system calls that copy. A device's
 *             memory may come, too, if there is one, so the host serves then
 *
 * Where all is shown, that decides. Else each member looks what it reaches, and
 * tells the others.
 *
 * A program may take its own mapping of a file away at any time; the host keeps
 * that of a window. So memory of the program's is never looked for so. And
 * where all of a window would be far, hosts are faster at small sizes: they
 * keep it (docs/one-sided.md).
 */
#include "window.h"

#include "mpi/base/reach.h"
#include "node/arena/show.h"
#include "node/base/settings.h"
#include "node/control.h"

#include <stdlib.h>

/* Or, below, why the host serves it (window.h). */
enum { SHOWN = SW_WIN_SERVED, PLACED, TO_COME };

/* What a member tells the others. */
typedef struct {
    int64_t form;
    uint64_t shown;             /* where, in its arena's file */
    sw_os_place_t place;
    uint64_t bytes;
    int64_t unit;
    uint64_t block, ring;       /* the first member's; 0: there is no room */
} said_t;

static void *room_for(size_t n, size_t bytes)
{
    void *p = calloc(n, bytes);
    if (!p) {
        sw_say("out of memory for a window");
        abort();
    }
    return p;
}

static int form_of(const sw_win_memory_t *m, const sw_team_t *team,
                   sw_os_place_t *place)
{
    int nowhere = team->arena ? SW_WIN_MEMORY : SW_WIN_MEMBERS;
    if (!sw_settings.rma)
        return SW_WIN_OFF;
    if (m->kind == SW_WIN_DYNAMIC)
        return sw_device_present() ? nowhere : TO_COME;
    if (m->bytes <= 0 || (m->shown != UINT64_MAX && team->arena))
        return SHOWN;
    return m->kind == SW_WIN_ALLOCATED &&
                   sw_os_place(m->base, (size_t)m->bytes, place)
               ? PLACED : nowhere;
}

/* Bytes of the block, and where the tables of a dynamic window begin in it. */
static size_t tables_at(int n)
{
    return sw_round_up(sw_rma_block_bytes(n), SW_PAIR);
}

static said_t say(const sw_win_memory_t *m, const sw_team_t *team)
{
    said_t said = {.shown = m->shown, .bytes = (uint64_t)m->bytes,
                   .unit = m->unit};
    said.form = form_of(m, team, &said.place);
    if (team->me == 0) {
        size_t bytes = tables_at(team->n);
        if (m->kind == SW_WIN_DYNAMIC)
            bytes += (size_t)team->n * sizeof(sw_regions_t);
        said.block = sw_segment_alloc(bytes, bytes, team->n);
        said.ring = sw_ring_reserve(team->n);
    }
    return said;
}

/* How this member reaches each; false: not all of them. */
static bool reach(const said_t *said, const sw_team_t *team,
                  const sw_win_memory_t *m, sw_win_target_t *to)
{
    int n = team->n;
    sw_os_place_t *place = room_for((size_t)n, sizeof *place);
    uint64_t *bytes = room_for((size_t)n, sizeof *bytes);
    void **found = room_for((size_t)n, sizeof *found);
    bool looks = false, all = true;
    for (int i = 0; i < n; i++) {
        place[i] = said[i].place;
        bytes[i] = said[i].form == PLACED && i != team->me ? said[i].bytes : 0;
        looks |= bytes[i] > 0;
    }
    if (looks)
        sw_os_find_places(place, bytes, n, found);
    for (int i = 0; i < n; i++) {
        const sw_peer_t *peer = team->peer[i];
        int64_t form = said[i].form;
        to[i].bytes = said[i].bytes;
        to[i].unit = said[i].unit;
        to[i].peer = peer;
        to[i].base = i == team->me   ? m->base
                     : form == SHOWN ? peer->arena + said[i].shown
                                     : found[i];
        all = all && (form == TO_COME ? peer->cma
                                      : form == SHOWN ||
                                            (form == PLACED && to[i].base));
    }
    free(place);
    free(bytes);
    free(found);
    return all;
}

static bool all_shown(const said_t *said, int n)
{
    bool shown = true;
    for (int i = 0; i < n; i++)
        shown = shown && said[i].form == SHOWN;
    return shown;
}

/* Collective. False, too, where a member is lost. */
static bool all_say(sw_ring_t *ring, const void *mine, size_t bytes, void *all)
{
    sw_data_t from = sw_data_plain(mine);
    sw_blocks_t blocks = {.bytes = bytes};
    return sw_coll_allgather(ring, &from, bytes, all, &blocks) == SW_OK;
}

static bool all_reach(sw_ring_t *ring, uint64_t mine)
{
    int n = ring->team->n;
    uint64_t *all = room_for((size_t)n, sizeof *all);
    bool reach = all_say(ring, &mine, sizeof mine, all);
    for (int i = 0; i < n; i++)
        reach = reach && all[i];
    free(all);
    return reach;
}

static void open_window(sw_win_t *w, const said_t *said, sw_team_t *team,
                        bool dynamic)
{
    size_t n = (size_t)team->n;
    char *block = team->peer[0]->control + said[0].block;
    w->share = (sw_rma_share_t){(sw_rma_block_t *)(void *)block, team->n,
                                team->me, sw_threaded};
    w->last.type = MPI_DATATYPE_NULL;
    w->ring = sw_ring_open(team, said[0].ring);
    w->members = room_for(n, sizeof *w->members);
    host.Win_get_group(w->handle, &w->group);
    for (size_t i = 0; dynamic && i < n; i++)
        w->target[i].regions =
            (sw_regions_t *)(void *)(block + tables_at(team->n)) + i;
    w->starts = w->posts = -1;
    w->ours = true;
}

/* All members reason alike: they have heard the same. */
static int agree(sw_win_t *w, const said_t *said, sw_ring_t *ring,
                 const sw_win_memory_t *m)
{
    sw_team_t *team = ring->team;
    int why = said[0].block && said[0].ring ? SW_WIN_SERVED : SW_WIN_ROOM;
    for (int i = 0; i < team->n; i++)
        why = sw_min(why, (int)said[i].form);
    if (why != SW_WIN_SERVED)
        return why;
    w->target = room_for((size_t)team->n, sizeof *w->target);
    bool mine = reach(said, team, m, w->target);
    if (all_shown(said, team->n) || all_reach(ring, mine)) {
        open_window(w, said, team, m->kind == SW_WIN_DYNAMIC);
        return SW_WIN_SERVED;
    }
    free(w->target);
    w->target = NULL;
    return SW_WIN_MEMORY;
}

int sw_win_decide(sw_win_t *w, const sw_win_memory_t *m, MPI_Comm comm)
{
    sw_reason_t reason;
    bool may = sw_accelerating() && sw_world_is_there();
    sw_comm_t *c = may ? sw_comm_enter(comm) : NULL;
    sw_ring_t *ring = c && (c->ring || (!c->settled && !c->apart))
                          ? sw_comm_ring(c, &reason) : NULL;
    if (!ring)
        return sw_accelerating() ? SW_WIN_MEMBERS : SW_WIN_OFF;
    sw_team_t *team = ring->team;
    said_t mine = say(m, team);
    said_t *said = room_for((size_t)team->n, sizeof *said);
    bool heard = all_say(ring, &mine, sizeof mine, said);
    int why = heard ? agree(w, said, ring, m) : SW_WIN_MEMBERS;
    if (why != SW_WIN_SERVED && team->me == 0) {
        if (mine.block)
            sw_ring_unreserve(team->peer[0], mine.block);
        if (mine.ring)
            sw_ring_unreserve(team->peer[0], mine.ring);
    }
    free(said);
    return why;
}

/* Threads may attach at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void sw_win_attached(const sw_win_t *w, const void *base, int64_t bytes,
                     uint64_t offset)
{
    sw_regions_t *mine = w->target[w->share.me].regions;
    pthread_mutex_lock(&lock);
    if (mine)
        sw_regions_add(mine, (uintptr_t)base, (uint64_t)bytes, offset);
    pthread_mutex_unlock(&lock);
}

void sw_win_detached(const sw_win_t *w, const void *base)
{
    sw_regions_t *mine = w->target[w->share.me].regions;
    pthread_mutex_lock(&lock);
    if (mine)
        sw_regions_remove(mine, (uintptr_t)base);
    pthread_mutex_unlock(&lock);
}
