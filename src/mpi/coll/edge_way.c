/*
 * edge_way.c - see edge_way.h.
 */
#include "edge_way.h"

#include "node/base/array.h"

#include "mpi/base/progress.h"
#include <stdlib.h>

/* `check` tells that all of it has come. */
typedef struct {
    int member, edge, check;
} note_t;

#define NOTE ((int)(sizeof(note_t) / sizeof(int)))

/* A note goes and comes on each edge. What the host reads lasts until it is
 * done. */
typedef struct sw_exchange {
    sw_edge_way_t *way;
    const sw_neighbours_t *all;
    sw_comm_t *comm;          /* held by a nonblocking one */
    MPI_Request request;      /* of a nonblocking one */
    struct sw_exchange *next; /* among those */
    struct {
        MPI_Count large;
        MPI_Aint address;
        MPI_Datatype type;
        note_t mine, got;
        int count, place;
    } *room; /* all the arrays' */
    note_t *mine, *got;
    int *count, *place;
    MPI_Count *large;
    MPI_Aint *address;
    MPI_Datatype *type;
} exchange_t;

static int check_of(int member, int edge)
{
    return (int)((unsigned)member * 0x9e3779b1u ^ (unsigned)edge ^ 0x5a17ed6eu);
}

/* Reads a note that the host may be writing. False: it has not come whole. */
static bool note_read(const note_t *at, note_t *to)
{
    to->check = __atomic_load_n(&at->check, __ATOMIC_RELAXED);
    to->member = __atomic_load_n(&at->member, __ATOMIC_RELAXED);
    to->edge = __atomic_load_n(&at->edge, __ATOMIC_RELAXED);
    return to->check == check_of(to->member, to->edge);
}

/* One thread looks at a time. It may be in a callback of the program's, within
 * the host, so no member waits for it: new exchanges come on a stack. */
static _Atomic bool looking;
static exchange_t *under_way;
static _Atomic(exchange_t *) begun;
_Atomic int sw_edge_ways_asking;

static void prepare(exchange_t *x, sw_edge_way_t *way,
                    const sw_neighbours_t *all, int me)
{
    int edges = all->outs > all->ins ? all->outs : all->ins;
    size_t n = (size_t)edges;
    x->way = way;
    x->all = all;
    x->room = sw_array_zeroed(n, sizeof *x->room);
    x->large = (MPI_Count *)(void *)x->room;
    x->address = (MPI_Aint *)(x->large + n);
    x->type = (MPI_Datatype *)(x->address + n);
    x->mine = (note_t *)(void *)(x->type + n);
    x->got = x->mine + n;
    x->count = (int *)(x->got + n);
    x->place = x->count + n;
    for (int i = 0; i < edges; i++) {
        x->large[i] = x->count[i] = NOTE;
        x->place[i] = i * NOTE;
        x->address[i] = i * (MPI_Aint)sizeof(note_t);
        x->type[i] = MPI_INT;
        x->mine[i] = (note_t){me, i, check_of(me, i)};
    }
    way->asked = true;
}

/* Calls the host's procedure, or its nonblocking form. */
#define DO(NAME, INAME, ...)                             \
    (begins ? host.INAME(__VA_ARGS__, comm, &x->request) \
            : host.NAME(__VA_ARGS__, comm))

static int call(exchange_t *x, sw_collective_t id, MPI_Comm comm, bool begins)
{
    if (id == SW_COLL_NEIGHBOR_ALLTOALL)
        return DO(Neighbor_alltoall, Ineighbor_alltoall, x->mine, NOTE, MPI_INT,
                  x->got, NOTE, MPI_INT);
    if (id == SW_COLL_NEIGHBOR_ALLTOALLV)
        return DO(Neighbor_alltoallv, Ineighbor_alltoallv, x->mine, x->count,
                  x->place, MPI_INT, x->got, x->count, x->place, MPI_INT);
#ifdef SW_HAS_Neighbor_alltoallw_c
    /* MPICH before 4.0.3 mixes up the numbers of edges in and out in the
     * other form: it then reads and sends what it should not. */
    if (host.Neighbor_alltoallw_c && host.Ineighbor_alltoallw_c)
        return DO(Neighbor_alltoallw_c, Ineighbor_alltoallw_c, x->mine,
                  x->large, x->address, x->type, x->got, x->large, x->address,
                  x->type);
#endif
    return DO(Neighbor_alltoallw, Ineighbor_alltoallw, x->mine, x->count,
              x->address, x->type, x->got, x->count, x->address, x->type);
}

/* Makes the index of the notes, if all have come, or will (`last`). True: each
 * is what the adjacency says. */
static bool read_notes(const exchange_t *x, bool last)
{
    const sw_neighbours_t *all = x->all;
    bool right = true;
    note_t note;
    for (int i = 0; i < all->ins && !last; i++)
        if (all->in[i] != SW_NOBODY && !note_read(&x->got[i], &note))
            return false;
    int *index = sw_array_zeroed((size_t)all->ins, sizeof *index);
    for (int i = 0; i < all->ins; i++) {
        if (all->in[i] == SW_NOBODY)
            continue;
        bool good = note_read(&x->got[i], &note) && note.member == all->in[i];
        index[i] = good ? note.edge : -1;
        right &= good;
    }
    atomic_store_explicit(&x->way->index, index, memory_order_release);
    return right;
}

bool sw_edge_way_ask(sw_edge_way_t *way, const sw_neighbours_t *all,
                     const sw_comm_t *c, sw_collective_t id)
{
    exchange_t x;
    prepare(&x, way, all, c->me);
    bool ok = call(&x, id, c->handle, false) == MPI_SUCCESS;
    ok &= read_notes(&x, true);
    free(x.room);
    return ok;
}

/* Nonblocking ones --------------------------------------------------------- */

static bool enter(void)
{
    return !atomic_exchange_explicit(&looking, true, memory_order_acquire);
}

static void leave(void)
{
    atomic_store_explicit(&looking, false, memory_order_release);
}

const int *sw_edge_way_index(void *of)
{
    sw_edge_way_t *way = of;
    const int *index = atomic_load_explicit(&way->index, memory_order_acquire);
    if (sw_likely(index) || !enter())
        return index;
    const exchange_t *x = atomic_load_explicit(&way->exchange,
                                               memory_order_acquire);
    if (x && !atomic_load(&way->index))
        read_notes(x, false);
    leave();
    return atomic_load_explicit(&way->index, memory_order_acquire);
}

/* The host is done with it, well or not. */
static void conclude(exchange_t *x)
{
    if (!atomic_load(&x->way->index))
        read_notes(x, true);
    atomic_store(&x->way->exchange, NULL);
    sw_comm_drop(x->comm);
    free(x->room);
    free(x);
}

void sw_edge_way_begin(sw_edge_way_t *way, const sw_neighbours_t *all,
                       sw_comm_t *c, sw_collective_t id)
{
    exchange_t *x = sw_array_zeroed(1, sizeof *x);
    prepare(x, way, all, c->me);
    x->comm = c;
    sw_comm_hold(c);
    if (call(x, id, c->handle, true) != MPI_SUCCESS) {
        conclude(x);
        return;
    }
    atomic_store(&way->exchange, x);
    atomic_fetch_add(&sw_edge_ways_asking, 1);
    x->next = atomic_load(&begun);
    while (!atomic_compare_exchange_weak(&begun, &x->next, x))
        ;
}

static void take_begun(void)
{
    exchange_t *x = atomic_exchange(&begun, NULL);
    while (x) {
        exchange_t *next = x->next;
        x->next = under_way;
        under_way = x;
        x = next;
    }
}

void sw_edge_ways_push_slow(void)
{
    if (!enter())
        return;
    take_begun();
    for (exchange_t **at = &under_way, *x; (x = *at);) {
        int flag = 0;
        int rc = host.Test(&x->request, &flag, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS && !flag) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        atomic_fetch_sub(&sw_edge_ways_asking, 1);
        conclude(x);
    }
    leave();
}

void sw_edge_way_end(const sw_edge_way_t *way)
{
#ifdef OMPI_MAJOR_VERSION
    while (atomic_load(&way->exchange)) {
        sw_edge_ways_push_slow();
        sw_progress();
    }
#endif
}

void sw_edge_ways_stop(void)
{
    while (atomic_load(&sw_edge_ways_asking)) {
        sw_edge_ways_push_slow();
        sw_progress();
    }
}
