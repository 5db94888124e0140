/*
 * known_comm.c - see known_comm.h.
 */
#include "known_comm.h"

#include "mpi/base/edges.h"
#include "mpi/base/guard.h"
#include "profile/record/catalog.h"
#include "profile/base/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

const sw_board_t **sw_boards;
sw_board_t *sw_board;

/* Of the counts of communicators. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Pairs of the first and last of consecutive ranks. */
static const int32_t *ranges(const int *ranks, int n, uint32_t *count)
{
    uint32_t pairs = n > 0;
    for (int i = 1; i < n; i++)
        pairs += ranks[i] != ranks[i - 1] + 1;
    int32_t *to = sw_profile_memory(2 * pairs * sizeof *to);
    *count = to ? pairs : 0;
    for (int i = 0, p = -1; to && i < n; i++) {
        if (i == 0 || ranks[i] != ranks[i - 1] + 1)
            to[2 * ++p] = ranks[i];
        to[2 * p + 1] = ranks[i];
    }
    return to;
}

/* All communicators of the same members, or between the same groups. */
typedef struct alike {
    struct alike *next;
    uint64_t hash;
    const int32_t *ranges;
    uint32_t range_count;
    uint64_t communicators; /* made of them so far */
} alike_t;

/* NULL: no memory. With the lock held, as the next. */
static alike_t *alike(uint64_t h)
{
    static alike_t *seen[BUCKETS];
    alike_t *a = seen[h % BUCKETS];
    while (a && a->hash != h)
        a = a->next;
    if (!a && (a = calloc(1, sizeof *a))) {
        *a = (alike_t){.next = seen[h % BUCKETS], .hash = h};
        seen[h % BUCKETS] = a;
    }
    return a;
}

static alike_t *alike_members(const sw_members_t *m)
{
    alike_t *a = m ? alike(m->hash) : NULL;
    if (a && !a->ranges)
        a->ranges = ranges(m->rank, m->n, &a->range_count);
    return a;
}

/* "split of duplicate of MPI_COMM_WORLD"; "split x3 of A" is a split of a split
 * of a split of A: a program may go far down, and what it began with stays in
 * the name. */
static void derive(const char *how, const char *parent,
                   char name[SW_CATALOG_NAME])
{
    size_t n = strlen(how);
    unsigned times = 1;
    int used = 0;
    if (!strncmp(parent, how, n)) {
        if (sscanf(parent + n, " x%u of %n", &times, &used) == 1 && used)
            parent += n + (size_t)used;
        else if (!strncmp(parent + n, " of ", 4))
            parent += n + 4;
        else
            times = 0;
        times++;
    }
    char again[16] = "";
    if (times > 1)
        snprintf(again, sizeof again, " x%u", times);
    snprintf(name, SW_CATALOG_NAME, "%s%s of %.40s", how, again, parent);
}

static void name_it(const sw_known_comm_t *c, const char *how, MPI_Comm parent,
                    char name[SW_CATALOG_NAME])
{
    sw_known_comm_t *from = parent != MPI_COMM_NULL ? sw_known_comm(parent)
                                                    : NULL;
    const sw_catalog_entry_t *e = from ? sw_catalog(SW_CATALOG_COMMUNICATORS,
                                                    from->number)
                                       : NULL;
    if (c->handle == MPI_COMM_WORLD)
        strcpy(name, "MPI_COMM_WORLD");
    else if (c->handle == MPI_COMM_SELF)
        strcpy(name, "MPI_COMM_SELF");
    else if (e)
        derive(how, e->name, name);
    else
        snprintf(name, SW_CATALOG_NAME, "%s", how);
}

/* The groups of the communicator, and its entry in the catalogue. */
static void look(sw_known_comm_t *c, sw_comm_t *state,
                 sw_catalog_entry_t *entry)
{
    sw_members_t *own = sw_comm_members(state), *others = own;
    if (own)
        sw_members_hold(own);
    c->own = own;
    if (c->inter) {
        MPI_Group remote;
        host.Comm_remote_size(c->handle, &c->targets);
        host.Comm_remote_group(c->handle, &remote);
        others = own ? sw_members_of(remote, c->targets) : NULL;
        host.Group_free(&remote);
        entry->remote_size = c->targets;
    }
    c->world = others ? others->rank : NULL;
    pthread_mutex_lock(&lock);
    alike_t *these = alike_members(own), *those = these;
    if (c->inter)
        those = alike_members(others);
    if (these && own->all) {
        entry->members = these->ranges;
        entry->ranges = these->range_count;
    }
    if (!c->id && these && those && own->all && others->all) {
        /* Between groups, both must find the same. */
        uint64_t a = these->hash, b = those->hash;
        alike_t *both = !c->inter
                            ? these
                            : alike(sw_board_key(a < b ? a : b, a < b ? b : a));
        if (both)
            c->id = sw_board_key(both->hash, both->communicators++);
    }
    pthread_mutex_unlock(&lock);
    entry->id = c->id;
}

static void look_for_nodes(sw_known_comm_t *c)
{
    c->first_away = c->targets;
    c->last_away = -1;
    for (int i = 0; i < c->targets; i++)
        if (sw_known_is_away(c, i)) {
            c->away++;
            c->first_away = sw_min(c->first_away, i);
            c->last_away = i;
        }
}

sw_comm_part_t sw_known_comm_part;

/* `id`: as it was promised, or 0. */
static sw_known_comm_t *meet(const char *how, MPI_Comm parent, MPI_Comm comm,
                             uint64_t id)
{
    SW_INSIDE;
    int inter = 0;
    sw_comm_t *state = sw_comm_state(comm);
    sw_known_comm_t *c = state ? sw_profile_memory(sizeof *c) : NULL;
    if (!c)
        return NULL;
    host.Comm_test_inter(comm, &inter);
    *c = (sw_known_comm_t){.handle = comm,
                           .id = id,
                           .n = state->n,
                           .me = state->me,
                           .targets = state->n,
                           .inter = inter,
                           .outs = -1,
                           .ins = -1,
                           .context = -1,
                           .aside = -1};
    sw_catalog_entry_t entry = {.size = (uint64_t)c->n, .rank = c->me};
    look(c, state, &entry);
    look_for_nodes(c);
    name_it(c, how, parent, entry.name);
    c->number = sw_catalog_add(SW_CATALOG_COMMUNICATORS, &entry);
    atomic_store_explicit(&state->part[sw_known_comm_part.place], c,
                          memory_order_release);
    return c;
}

sw_known_comm_t *sw_known_comm_meet(MPI_Comm comm)
{
    static pthread_mutex_t meeting = PTHREAD_MUTEX_INITIALIZER;
    sw_known_comm_t *c = sw_known_comm(comm);
    if (sw_likely(c) || comm == MPI_COMM_NULL)
        return c;
    pthread_mutex_lock(&meeting);
    sw_comm_part_add(&sw_known_comm_part);
    c = sw_known_comm(comm);
    if (!c)
        c = meet("communicator", MPI_COMM_NULL, comm, 0);
    pthread_mutex_unlock(&meeting);
    return c;
}

void sw_known_comm_made(const char *how, MPI_Comm parent, MPI_Comm comm)
{
    sw_known_comm_kept(how, parent, comm, 0);
}

uint64_t sw_known_comm_promise(MPI_Comm parent)
{
    const sw_known_comm_t *c = sw_known_comm_meet(parent);
    uint64_t id = 0;
    if (!c || !c->id || c->inter)
        return 0;
    pthread_mutex_lock(&lock);
    alike_t *these = alike(c->own->hash);
    if (these)
        id = sw_board_key(these->hash, these->communicators++);
    pthread_mutex_unlock(&lock);
    return id;
}

void sw_known_comm_kept(const char *how, MPI_Comm parent, MPI_Comm comm,
                        uint64_t id)
{
    if (comm != MPI_COMM_NULL && !sw_known_comm(comm))
        meet(how, parent, comm, id);
}

void sw_known_comm_rename(MPI_Comm comm, const char *name)
{
    sw_known_comm_t *c = sw_known_comm(comm);
    if (c)
        sw_catalog_rename(SW_CATALOG_COMMUNICATORS, c->number, name);
}

/* For the capture: their ranks in MPI_COMM_WORLD. */
static void tell_neighbours(const sw_known_comm_t *c)
{
    int n = c->ins + c->outs;
    sw_catalog_neighbours_t *near = sw_profile_memory(
        sizeof *near + (size_t)n * sizeof *near->rank);
    if (!near)
        return;
    near->ins = (uint32_t)c->ins;
    near->outs = (uint32_t)c->outs;
    for (int i = 0; i < n; i++)
        near->rank[i] = (int32_t)sw_known_rank(c, c->in[i]);
    sw_catalog_neighbours(c->number, near);
}

void sw_known_comm_ask_neighbours(sw_known_comm_t *c)
{
    sw_neighbours_t lists;
    int topology = sw_edges_count(c->handle, c->me, &lists.outs, &lists.ins);
    c->outs = lists.outs;
    c->ins = lists.ins;
    lists.in = sw_profile_memory((size_t)(lists.ins + lists.outs) *
                                 sizeof *lists.in);
    if (topology == MPI_UNDEFINED || !lists.in)
        return;
    lists.out = lists.in + lists.ins;
    sw_edges_list(c->handle, topology, c->me, &lists);
    c->in = lists.in;
    tell_neighbours(c);
}
