/*
 * edge_way.c - see edge_way.h.
 */
#include "edge_way.h"

#include "node/base/array.h"

#include <stdlib.h>

typedef struct {
    int member, edge;
} note_t;

#define NOTE ((int)(sizeof(note_t) / sizeof(int)))

/* A note goes and comes on each edge. What the host reads lasts until it is
 * done. */
typedef struct exchange {
    sw_edge_way_t *way;
    const sw_neighbours_t *all;
    MPI_Request request;        /* of a nonblocking one                     */
    struct exchange *next;      /* among those                              */
    struct {
        MPI_Count large;
        MPI_Aint address;
        MPI_Datatype type;
        note_t mine, got;
        int count, place;
    } *room;                    /* all the arrays' */
    note_t *mine, *got;
    int *count, *place;
    MPI_Count *large;
    MPI_Aint *address;
    MPI_Datatype *type;
} exchange_t;

static _Atomic bool looking;
static exchange_t *under_way;
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
        x->mine[i] = (note_t){me, i};
        x->got[i] = (note_t){SW_NOBODY, 0};
    }
    way->asked = true;
}

/* Calls the host's procedure, or its nonblocking form. */
#define DO(NAME, INAME, ...)                                            \
    (begins ? host.INAME(__VA_ARGS__, comm, &x->request)                \
            : host.NAME(__VA_ARGS__, comm))

static int call(exchange_t *x, sw_collective_t id, MPI_Comm comm, bool begins)
{
    if (id == SW_COLL_NEIGHBOR_ALLTOALL)
        return DO(Neighbor_alltoall, Ineighbor_alltoall, x->mine, NOTE,
                  MPI_INT, x->got, NOTE, MPI_INT);
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

/* What the notes tell. A negative number stands for a wrong one. */
static int *read_notes(const exchange_t *x, bool *ok)
{
    int *index = sw_array_zeroed((size_t)x->all->ins, sizeof *index);
    for (int i = 0; i < x->all->ins; i++) {
        bool right = *ok && x->got[i].member == x->all->in[i];
        index[i] = right ? x->got[i].edge : -1;
        *ok &= right;
    }
    return index;
}

bool sw_edge_way_ask(sw_edge_way_t *way, const sw_neighbours_t *all, int me,
                     sw_collective_t id, MPI_Comm comm)
{
    exchange_t x;
    prepare(&x, way, all, me);
    bool ok = call(&x, id, comm, false) == MPI_SUCCESS;
    atomic_store(&way->index, read_notes(&x, &ok));
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

static void conclude(exchange_t *x, bool ok)
{
    int *index = read_notes(x, &ok);
    atomic_store_explicit(&x->way->index, index, memory_order_release);
    atomic_store_explicit(&x->way->asking, false, memory_order_release);
    free(x->room);
    free(x);
}

void sw_edge_way_begin(sw_edge_way_t *way, const sw_neighbours_t *all, int me,
                       sw_collective_t id, MPI_Comm comm)
{
    exchange_t *x = sw_array_zeroed(1, sizeof *x);
    prepare(x, way, all, me);
    atomic_store(&way->asking, true);
    if (call(x, id, comm, true) != MPI_SUCCESS) {
        conclude(x, false);
        return;
    }
    while (!enter())
        sw_os_yield();
    x->next = under_way;
    under_way = x;
    atomic_fetch_add(&sw_edge_ways_asking, 1);
    leave();
}

void sw_edge_ways_look_slow(void)
{
    if (!enter())
        return;
    for (exchange_t **at = &under_way, *x; (x = *at);) {
        int flag = 0;
        int rc = host.Test(&x->request, &flag, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS && !flag) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        atomic_fetch_sub(&sw_edge_ways_asking, 1);
        conclude(x, rc == MPI_SUCCESS);
    }
    leave();
}

void sw_edge_way_end(sw_edge_way_t *way)
{
    while (atomic_load(&way->asking)) {
        sw_edge_ways_look_slow();
        sw_comm_progress();
    }
}
