/*
 * operations.c - see operations.h.
 *
 * A host that is older than MPI 4 has no persistent form, and so may an
 * <mpi.h>. The module finds these procedures by name: it must not refuse to
 * load because of them.
 */
#include "operations.h"

#include <dlfcn.h>
#include <stdio.h>

static sw_blocks_t *const b = &sw_blocks;

/* Open MPI has them since 5.0, and still calls itself MPI 3.1. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define PERSISTENT 1
#define BIND(name, Name, ...)                                            \
    static int name##_bind(MPI_Request *request)                         \
    {                                                                    \
        static __typeof__(&MPI_##Name##_init) bind;                      \
        if (!bind)                                                       \
            *(void **)&bind = dlsym(RTLD_DEFAULT, "MPI_" #Name "_init"); \
        return bind ? bind(__VA_ARGS__, MPI_INFO_NULL, request)          \
                    : MPI_ERR_UNSUPPORTED_OPERATION;                     \
    }
#else
#define PERSISTENT 0
#define BIND(name, Name, ...)                    \
    static int name##_bind(MPI_Request *request) \
    {                                            \
        return MPI_ERR_UNSUPPORTED_OPERATION;    \
    }
#endif

#define FORMS(name, Name, ...)                    \
    static int name(void)                         \
    {                                             \
        return MPI_##Name(__VA_ARGS__);           \
    }                                             \
    static int name##_start(MPI_Request *request) \
    {                                             \
        return MPI_I##name(__VA_ARGS__, request); \
    }                                             \
    BIND(name, Name, __VA_ARGS__)

#define SEND b->in, b->items, b->type
#define RECEIVE b->out, b->items, b->type
#define SEND_V b->in, b->counts, b->places, b->type
#define RECEIVE_V b->out, b->counts, b->places, b->type
#define SUM_OF(count) b->in, b->out, count, MPI_DOUBLE, MPI_SUM

FORMS(barrier, Barrier, b->comm)
FORMS(bcast, Bcast, b->rank ? b->out : b->in, b->items, b->type, 0, b->comm)
FORMS(gather, Gather, SEND, RECEIVE, 0, b->comm)
FORMS(gatherv, Gatherv, SEND, RECEIVE_V, 0, b->comm)
FORMS(scatter, Scatter, SEND, RECEIVE, 0, b->comm)
FORMS(scatterv, Scatterv, SEND_V, RECEIVE, 0, b->comm)
FORMS(allgather, Allgather, SEND, RECEIVE, b->comm)
FORMS(allgatherv, Allgatherv, SEND, RECEIVE_V, b->comm)
FORMS(alltoall, Alltoall, SEND, RECEIVE, b->comm)
FORMS(alltoallv, Alltoallv, SEND_V, RECEIVE_V, b->comm)
FORMS(alltoallw, Alltoallw, b->in, b->counts, b->byte_places, b->types, b->out,
      b->counts, b->byte_places, b->types, b->comm)
FORMS(neighbor_allgather, Neighbor_allgather, SEND, RECEIVE, b->grid)
FORMS(neighbor_allgatherv, Neighbor_allgatherv, SEND, RECEIVE_V, b->grid)
FORMS(neighbor_alltoall, Neighbor_alltoall, SEND, RECEIVE, b->grid)
FORMS(neighbor_alltoallv, Neighbor_alltoallv, SEND_V, RECEIVE_V, b->grid)
FORMS(neighbor_alltoallw, Neighbor_alltoallw, b->in, b->counts, b->addresses,
      b->types, b->out, b->counts, b->addresses, b->types, b->grid)
FORMS(reduce, Reduce, SUM_OF(b->count), 0, b->comm)
FORMS(allreduce, Allreduce, SUM_OF(b->count), b->comm)
FORMS(reduce_scatter, Reduce_scatter, SUM_OF(b->counts), b->comm)
FORMS(reduce_scatter_block, Reduce_scatter_block, SUM_OF(b->count), b->comm)
FORMS(scan, Scan, SUM_OF(b->count), b->comm)
FORMS(exscan, Exscan, SUM_OF(b->count), b->comm)

#define ENTRY(name, result) {#name, result, name, name##_start, name##_bind}

const sw_operation_t sw_operations[] = {
    ENTRY(barrier, SW_NOTHING),
    ENTRY(bcast, SW_ROOTS),
    ENTRY(gather, SW_GATHERED),
    ENTRY(gatherv, SW_GATHERED),
    ENTRY(scatter, SW_SCATTERED),
    ENTRY(scatterv, SW_SCATTERED),
    ENTRY(allgather, SW_ALLGATHERED),
    ENTRY(allgatherv, SW_ALLGATHERED),
    ENTRY(alltoall, SW_TRANSPOSED),
    ENTRY(alltoallv, SW_TRANSPOSED),
    ENTRY(alltoallw, SW_TRANSPOSED),
    ENTRY(neighbor_allgather, SW_FROM_NEIGHBOURS),
    ENTRY(neighbor_allgatherv, SW_FROM_NEIGHBOURS),
    ENTRY(neighbor_alltoall, SW_MADE_FOR_ME),
    ENTRY(neighbor_alltoallv, SW_MADE_FOR_ME),
    ENTRY(neighbor_alltoallw, SW_MADE_FOR_ME),
    ENTRY(reduce, SW_SUM_AT_ROOT),
    ENTRY(allreduce, SW_SUM),
    ENTRY(reduce_scatter, SW_SUM_OF_MINE),
    ENTRY(reduce_scatter_block, SW_SUM_OF_MINE),
    ENTRY(scan, SW_SUM_TO_ME),
    ENTRY(exscan, SW_SUM_BEFORE_ME),
};
const int sw_operation_count = sizeof sw_operations / sizeof *sw_operations;

bool sw_operations_persist(void)
{
    return PERSISTENT && dlsym(RTLD_DEFAULT, "MPI_Allreduce_init") != NULL;
}

/* A cell of the plan; a barrier has one. */
typedef struct {
    const sw_operation_t *op;
    size_t size; /* of the plan */
} planned_t;

static size_t size_of(const planned_t *cell)
{
    return cell->op->result == SW_NOTHING ? 0 : cell->size;
}

/* Does the plan name this cell, if it names any? */
static bool is_wanted(const char *chosen, const planned_t *cell, int size)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%zu", cell->op->name, size_of(cell));
    return sw_chosen(chosen, cell->op->name) &&
           (cell->op->result != SW_NOTHING || size == 0) &&
           (!sw_run.plan->cells || sw_chosen(sw_run.plan->cells, name));
}

/* Collective by collective; where the time may end before the cells, size by
 * size: then each collective has some. */
static planned_t nth(int i, int *size)
{
    const sw_bench_plan_t *plan = sw_run.plan;
    bool by_size = plan->within > 0;
    *size = by_size ? i / sw_operation_count : i % plan->size_count;
    int op = by_size ? i % sw_operation_count : i / plan->size_count;
    return (planned_t){&sw_operations[op], plan->size[*size]};
}

bool sw_operations_measure(const char *chosen,
                           bool (*measure)(const sw_operation_t *operation,
                                           size_t size))
{
    const sw_bench_plan_t *plan = sw_run.plan;
    int all = sw_operation_count * plan->size_count, size, left = 0;
    bool right = true;
    for (int i = 0; i < all; i++) {
        planned_t cell = nth(i, &size);
        left += is_wanted(chosen, &cell, size);
    }
    for (int i = 0; i < all; i++) {
        planned_t cell = nth(i, &size);
        if (!is_wanted(chosen, &cell, size) || !sw_time_is_left(left--))
            continue;
        sw_blocks_lay(cell.op->result, cell.size, plan->run);
        right &= measure(cell.op, size_of(&cell));
        sw_blocks_clear();
    }
    return right;
}

bool sw_operation_check(const sw_cell_t *cell, int way)
{
    const sw_operation_t *op = cell->what;
    sw_blocks_forget();
    sw_batch(cell, way, 1);
    int right = sw_blocks_right(op->result), all;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, b->comm);
    return all;
}
