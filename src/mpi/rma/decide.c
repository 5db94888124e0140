/*
 * decide.c - do the members serve a window, or does the host? See window.h.
 *
 * Each member says where its memory is:
 *
 *   shown     in its arena, which all have mapped
 *   placed    in a file that the host has mapped at all members, as hosts do
 *             for the windows that they allocate: each member finds out where
 *             (places.h)
 *   to come   memory is attached later. What is not in the arena then is far
 *             (far.h), so all members need system calls that copy. A device's
 *             memory may come, too, if there is one, so the host serves then
 *
 * Where all is shown, that decides. Else each member looks what it reaches, and
 * tells the others. Where a member has not found all that is placed, all
 * search their mappings and tell each other again. Searching takes long, and is
 * in vain where the host keeps its memory to itself. A member that has searched
 * in vain often says so, and they search only if none does.
 *
 * A program may take its own mapping of a file away at any time; the host keeps
 * that of a window. So no member searches for the program's own memory. And
 * where all of a window would be far, hosts are faster at small sizes, and
 * serve it (docs/one-sided.md).
 */
#include "places.h"

#include "mpi/base/reach.h"
#include "node/arena/show.h"
#include "node/base/array.h"
#include "node/base/settings.h"
#include "node/control.h"

#include <stdlib.h>

/* Or, below, why the host serves it (window.h). */
enum { SHOWN = SW_WIN_SERVED, PLACED, TO_COME };

/* What a member tells the others. */
typedef struct {
    int64_t form;
    uint64_t shown; /* where, in its arena's file */
    uint64_t base, bytes;
    uint64_t mark; /* places.h */
    int64_t unit;
    int64_t searches;         /* may it be worth while? */
    uint64_t block, sequence; /* the first member's; 0: there is no room */
} said_t;

/* What it tells where they search. */
typedef struct {
    bool found;
    sw_os_place_t place;
} found_t;

/* After so many searches in vain only some are made. */
enum { SEARCHES = 4, SELDOM = 64 };
static _Atomic unsigned vain;

static bool searches(void)
{
    unsigned so_far = atomic_load(&vain);
    return so_far < SEARCHES || so_far % SELDOM == 0;
}

static bool is_hosts(const sw_win_memory_t *m)
{
    return m->kind == SW_WIN_ALLOCATED || m->kind == SW_WIN_SHARED_MEMORY;
}

static int form_of(const sw_win_memory_t *m, const sw_team_t *team)
{
    int nowhere = team->arena ? SW_WIN_MEMORY : SW_WIN_MEMBERS;
    if (!sw_settings.rma)
        return SW_WIN_OFF;
    if (m->kind == SW_WIN_DYNAMIC)
        return sw_device_present() ? nowhere : TO_COME;
    if (m->bytes <= 0 || (m->shown != UINT64_MAX && team->arena))
        return SHOWN;
    return is_hosts(m) ? PLACED : nowhere;
}

/* Bytes of the block, and where the tables of a dynamic window begin in it. */
static size_t tables_at(int n)
{
    return sw_round_up(sw_rma_block_bytes(n), SW_PAIR);
}

static said_t say(const sw_win_memory_t *m, const sw_team_t *team,
                  sw_marked_t *marked)
{
    said_t said = {.form = form_of(m, team),
                   .shown = m->shown,
                   .base = (uintptr_t)m->base,
                   .bytes = (uint64_t)m->bytes,
                   .unit = m->unit,
                   .searches = searches()};
    if (said.form == PLACED && m->kind == SW_WIN_ALLOCATED &&
        !sw_device_present())
        said.mark = sw_places_mark(m->base, said.bytes, marked);
    if (team->me == 0) {
        size_t bytes = tables_at(team->n);
        if (m->kind == SW_WIN_DYNAMIC)
            bytes += (size_t)team->n * sizeof(sw_regions_t);
        said.block = sw_segment_alloc(bytes, bytes, team->n);
        said.sequence = sw_sequence_reserve(team->n);
    }
    return said;
}

/* Where the host has placed what it has: asked or guessed. */
static void place_them(const sw_win_t *w, const said_t *said,
                       const sw_team_t *team, const sw_win_memory_t *m,
                       void **at)
{
    sw_part_of_window_t *part = sw_array_zeroed((size_t)team->n, sizeof *part);
    for (int i = 0; i < team->n; i++) {
        part[i].bytes = said[i].form == PLACED ? said[i].bytes : 0;
        part[i].mark = said[i].mark;
    }
    if (m->kind == SW_WIN_SHARED_MEMORY)
        sw_places_ask(w->handle, part, team->n, team->me, at);
    else
        sw_places_guess(m->base, part, team->n, team->me, at);
    free(part);
}

/* How this member reaches a target that the host has placed. */
static bool reach_placed(sw_win_target_t *to, const said_t *said,
                         const sw_win_memory_t *m)
{
    if (!to->base && m->bytes <= 0 && to->peer->cma) {
        to->where = SW_WIN_UNSEARCHED;
        to->away = said->base;
    }
    return to->base || to->where == SW_WIN_UNSEARCHED;
}

/* How it reaches each; at[i]: what is placed. False: not all. */
static bool reach(const said_t *said, const sw_team_t *team,
                  const sw_win_memory_t *m, void *const *at,
                  sw_win_target_t *to)
{
    bool all = true;
    for (int i = 0; i < team->n; i++) {
        const sw_peer_t *peer = team->peer[i];
        int64_t form = said[i].form;
        to[i].bytes = said[i].bytes;
        to[i].unit = said[i].unit;
        to[i].peer = peer;
        to[i].base = i == team->me   ? m->base
                     : form == SHOWN ? peer->arena + said[i].shown
                                     : at[i];
        all = all && (form == TO_COME  ? peer->cma
                      : form == PLACED ? reach_placed(&to[i], &said[i], m)
                                       : form == SHOWN);
    }
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
static bool all_say(sw_sequence_t *seq, const void *mine, size_t bytes,
                    void *all)
{
    sw_data_t from = sw_data_plain(mine);
    sw_blocks_t blocks = {.bytes = bytes};
    return sw_coll_allgather(seq, &from, bytes, all, &blocks) == SW_OK;
}

static bool all_reach(sw_sequence_t *seq, uint64_t mine)
{
    int n = seq->team->n;
    uint64_t *all = sw_array_zeroed((size_t)n, sizeof *all);
    bool reach = all_say(seq, &mine, sizeof mine, all);
    for (int i = 0; i < n; i++)
        reach = reach && all[i];
    free(all);
    return reach;
}

/* All look among their mappings, and tell what they have found. */
static bool search(sw_sequence_t *seq, const said_t *said,
                   const sw_win_memory_t *m, void **at, sw_win_target_t *to)
{
    sw_team_t *team = seq->team;
    size_t n = (size_t)team->n;
    found_t mine = {.found = said[team->me].form != PLACED};
    found_t *found = sw_array_zeroed(n, sizeof *found);
    sw_os_place_t *place = sw_array_zeroed(n, sizeof *place);
    uint64_t *bytes = sw_array_zeroed(n, sizeof *bytes);
    if (!mine.found)
        mine.found = sw_os_place(0, m->base, (size_t)m->bytes, &mine.place);
    bool all = all_say(seq, &mine, sizeof mine, found);
    for (size_t i = 0; i < n; i++) {
        all = all && found[i].found;
        place[i] = found[i].place;
        bytes[i] = said[i].form == PLACED && (int)i != team->me ? said[i].bytes
                                                                : 0;
    }
    if (all) {
        sw_os_find_places(place, bytes, team->n, at);
        all = all_reach(seq, reach(said, team, m, at, to));
    }
    free(found);
    free(place);
    free(bytes);
    if (all)
        atomic_store(&vain, 0);
    return all;
}

/* How all reach all. False: not all do. */
static bool find(sw_win_t *w, const said_t *said, sw_sequence_t *seq,
                 const sw_win_memory_t *m)
{
    sw_team_t *team = seq->team;
    size_t n = (size_t)team->n;
    void **at = sw_array_zeroed(n, sizeof *at);
    bool placed = false, searching = true;
    for (size_t i = 0; i < n; i++) {
        placed = placed || said[i].form == PLACED;
        searching = searching && said[i].searches;
    }
    if (placed)
        place_them(w, said, team, m, at);
    bool all = all_reach(seq, reach(said, team, m, at, w->target));
    if (placed && !all) {
        atomic_fetch_add(&vain, 1);
        all = searching && search(seq, said, m, at, w->target);
    }
    free(at);
    return all;
}

/* What marks have replaced is back before any member leaves. */
static void end_marks(const said_t *said, sw_sequence_t *seq,
                      sw_marked_t *marked)
{
    bool any = false;
    for (int i = 0; i < seq->team->n; i++)
        any = any || said[i].mark;
    sw_places_unmark(marked);
    if (any)
        sw_coll_barrier(seq);
}

static void open_window(sw_win_t *w, const said_t *said, sw_team_t *team,
                        bool dynamic)
{
    size_t n = (size_t)team->n;
    char *block = team->peer[0]->control + said[0].block;
    w->share = (sw_rma_share_t){(sw_rma_block_t *)(void *)block, team->n,
                                team->me, sw_threaded};
    w->last.type = MPI_DATATYPE_NULL;
    w->sequence = sw_sequence_open(team, said[0].sequence);
    w->members = sw_array_zeroed(n, sizeof *w->members);
    host.Win_get_group(w->handle, &w->group);
    for (size_t i = 0; dynamic && i < n; i++)
        w->target[i].regions = (sw_regions_t *)(void *)(block +
                                                        tables_at(team->n)) +
                               i;
    w->starts = w->posts = -1;
    w->ours = true;
}

/* All members reason alike: they have heard the same. */
static int agree(sw_win_t *w, const said_t *said, sw_sequence_t *seq,
                 const sw_win_memory_t *m)
{
    sw_team_t *team = seq->team;
    int why = said[0].block && said[0].sequence ? SW_WIN_SERVED : SW_WIN_ROOM;
    for (int i = 0; i < team->n; i++)
        why = sw_min(why, (int)said[i].form);
    if (why != SW_WIN_SERVED)
        return why;
    w->target = sw_array_zeroed((size_t)team->n, sizeof *w->target);
    if (all_shown(said, team->n) ? reach(said, team, m, NULL, w->target)
                                 : find(w, said, seq, m)) {
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
    bool may = sw_control_accelerating() && sw_roster_has_world();
    sw_comm_t *c = may ? sw_comm_enter(comm) : NULL;
    sw_sequence_t *seq = c && (c->sequence || (!c->settled && !c->apart))
                             ? sw_comm_sequence(c, &reason)
                             : NULL;
    if (!seq)
        return sw_control_accelerating() ? SW_WIN_MEMBERS : SW_WIN_OFF;
    sw_team_t *team = seq->team;
    sw_marked_t marked = {{NULL, NULL}, {0, 0}};
    said_t mine = say(m, team, &marked);
    said_t *said = sw_array_zeroed((size_t)team->n, sizeof *said);
    bool heard = all_say(seq, &mine, sizeof mine, said);
    int why = heard ? agree(w, said, seq, m) : SW_WIN_MEMBERS;
    end_marks(said, seq, &marked);
    if (why != SW_WIN_SERVED && team->me == 0) {
        if (mine.block)
            sw_sequence_unreserve(team->peer[0], mine.block);
        if (mine.sequence)
            sw_sequence_unreserve(team->peer[0], mine.sequence);
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
