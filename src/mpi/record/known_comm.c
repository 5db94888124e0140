/*
 * known_comm.c - see known_comm.h.
 */
#include "known_comm.h"

#include "mpi/base/comm.h"
#include "mpi/base/edges.h"
#include "profile/record/catalog.h"
#include "profile/base/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

const sw_board_t **sw_boards;
sw_board_t *sw_board;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_known_comm_t *table[BUCKETS];
_Atomic(sw_known_comm_t *) sw_known_comms[SW_KNOWN_COMMS];

static size_t mix(MPI_Comm comm)
{
    return sw_handle_mix((uintptr_t)comm);
}

sw_known_comm_t *sw_known_comm_find(MPI_Comm comm)
{
    _Atomic(sw_known_comm_t *) *slot =
        &sw_known_comms[mix(comm) % SW_KNOWN_COMMS];
    pthread_mutex_lock(&lock);
    sw_known_comm_t *c = table[mix(comm) % BUCKETS];
    while (c && c->handle != comm)
        c = c->next;
    if (c)
        atomic_store_explicit(slot, c, memory_order_release);
    pthread_mutex_unlock(&lock);
    return c;
}

void sw_known_comm_forget(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    sw_known_comm_t **link = &table[mix(comm) % BUCKETS];
    while (*link && (*link)->handle != comm)
        link = &(*link)->next;
    sw_known_comm_t *c = *link;
    if (c) {
        *link = c->next;
        c->handle = MPI_COMM_NULL;
        _Atomic(sw_known_comm_t *) *slot =
            &sw_known_comms[mix(comm) % SW_KNOWN_COMMS];
        if (atomic_load(slot) == c)
            atomic_store(slot, NULL);
    }
    pthread_mutex_unlock(&lock);
}

/* Ranks in MPI_COMM_WORLD of a group's members (-1: not there), or NULL. */
static int32_t *world_ranks(MPI_Group group, int n, bool *all)
{
    int32_t *ranks = sw_world_is_there() ? sw_world_ranks(group, n) : NULL;
    *all = ranks != NULL;
    for (int i = 0; ranks && i < n; i++) {
        if (ranks[i] == MPI_UNDEFINED)
            ranks[i] = -1;
        *all &= ranks[i] >= 0;
    }
    return ranks;
}

static uint64_t hash(const int32_t *ranks, int n)
{
    uint64_t x = (uint64_t)n;
    for (int i = 0; i < n; i++)
        x = sw_board_key(x, (uint64_t)(uint32_t)ranks[i] + 1);
    return x;
}

/* Pairs of the first and last of consecutive ranks. */
static const int32_t *ranges(const int32_t *ranks, int n, uint32_t *count)
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

/* Members in their order; communicators of the same ones share it, for a
 * program may make the same again at each step. */
typedef struct alike {
    struct alike *next;
    uint64_t hash;
    int32_t *ranks;
    const int32_t *ranges;
    uint32_t range_count;
    uint64_t communicators;     /* made of them so far */
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

/* Takes `ranks`, which are `n`, over; they may be NULL. */
static alike_t *alike_members(int32_t *ranks, int n)
{
    alike_t *a = ranks ? alike(hash(ranks, n)) : NULL;
    if (!a || a->ranks) {
        free(ranks);
    } else {
        a->ranks = ranks;
        a->ranges = ranges(ranks, n, &a->range_count);
    }
    return a;
}

static void name_it(const sw_known_comm_t *c, const char *how,
                    MPI_Comm parent, char name[SW_CATALOG_NAME])
{
    sw_known_comm_t *from = parent != MPI_COMM_NULL ? sw_known_comm(parent)
                                                    : NULL;
    const sw_catalog_entry_t *e =
        from ? sw_catalog(SW_CATALOG_COMMUNICATORS, from->number) : NULL;
    if (c->handle == MPI_COMM_WORLD)
        strcpy(name, "MPI_COMM_WORLD");
    else if (c->handle == MPI_COMM_SELF)
        strcpy(name, "MPI_COMM_SELF");
    else
        snprintf(name, SW_CATALOG_NAME, "%s%s%.40s", how, e ? " of " : "",
                 e ? e->name : "");
}

/* `id`: as it was promised, or 0. */
static sw_known_comm_t *meet(const char *how, MPI_Comm parent, MPI_Comm comm,
                             uint64_t id)
{
    int inter = 0;
    MPI_Group own, remote = MPI_GROUP_NULL;
    if (host.Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return NULL;
    sw_known_comm_t *c = sw_profile_memory(sizeof *c);
    if (!c)
        return NULL;
    c->handle = comm;
    c->inter = inter;
    c->outs = c->ins = -1;
    c->context = c->aside = -1;
    host.Comm_size(comm, &c->n);
    host.Comm_rank(comm, &c->me);
    c->targets = c->n;
    host.Comm_group(comm, &own);
    bool all, remote_all = true;
    int32_t *members = world_ranks(own, c->n, &all), *others = NULL;
    host.Group_free(&own);
    sw_catalog_entry_t entry = {.size = (uint64_t)c->n, .rank = c->me};
    if (inter) {
        host.Comm_remote_size(comm, &c->targets);
        host.Comm_remote_group(comm, &remote);
        others = world_ranks(remote, c->targets, &remote_all);
        host.Group_free(&remote);
        entry.remote_size = c->targets;
    }
    pthread_mutex_lock(&lock);
    alike_t *these = alike_members(members, c->n), *those = these;
    if (inter)
        those = alike_members(others, c->targets);
    if (those)
        c->world = those->ranks;
    if (these && all) {
        entry.members = these->ranges;
        entry.ranges = these->range_count;
    }
    if (id) {
        c->id = id;
    } else if (these && those && all && remote_all) {
        /* Between groups, both must find the same. */
        uint64_t a = these->hash, b = those->hash;
        alike_t *both = !inter ? these
            : alike(sw_board_key(a < b ? a : b, a < b ? b : a));
        if (both)
            c->id = sw_board_key(both->hash, both->communicators++);
    }
    pthread_mutex_unlock(&lock);
    entry.id = c->id;
    name_it(c, how, parent, entry.name);
    c->number = sw_catalog_add(SW_CATALOG_COMMUNICATORS, &entry);
    pthread_mutex_lock(&lock);
    c->next = table[mix(comm) % BUCKETS];
    table[mix(comm) % BUCKETS] = c;
    pthread_mutex_unlock(&lock);
    return c;
}

sw_known_comm_t *sw_known_comm_meet(MPI_Comm comm)
{
    static pthread_mutex_t meeting = PTHREAD_MUTEX_INITIALIZER;
    sw_known_comm_t *c = sw_known_comm(comm);
    if (sw_likely(c) || comm == MPI_COMM_NULL)
        return c;
    pthread_mutex_lock(&meeting);
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
    if (!c || !c->id || !c->world || c->inter)
        return 0;
    pthread_mutex_lock(&lock);
    alike_t *these = alike(hash(c->world, c->n));
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

/* For the capture: who they are in MPI_COMM_WORLD. */
static void tell_neighbours(const sw_known_comm_t *c)
{
    int n = c->ins + c->outs;
    sw_catalog_neighbours_t *near =
        sw_profile_memory(sizeof *near + (size_t)n * sizeof *near->rank);
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
