/*
 * scan.c - MPI_Scan, MPI_Exscan, in all their forms.
 */
#include "started.h"

/* Are the arguments right? Fills in the rest. */
static bool check(sw_comm_t *c, sw_collective_t id, const void *send,
                  void *recv, int64_t count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, sw_reduction_t *k, sw_reason_t *reason,
                  int *result)
{
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    const void *in = send == MPI_IN_PLACE ? recv : send;
    bool needs_out = id == SW_COLL_SCAN || c->me > 0;
    if (!d || count < 0 || recv == MPI_IN_PLACE ||
        sw_missing(in, count, d) ||
        (needs_out && sw_missing(recv, count, d)) ||
        sw_aliased(id, send, recv, count))
        return false;
    return sw_reduction(k, id, d, op, in, count, recv, needs_out ? count : 0,
                        reason);
}

static int run(sw_comm_t *c, const sw_reduction_t *k, const sw_operands_t *x)
{
    size_t n = (size_t)k->ins;
    bool exclusive = k->id == SW_COLL_EXSCAN;
    return c->ring ? sw_coll_scan(c->ring, exclusive, &k->o.reducer, x->in,
                                  x->out, n)
                   : sw_span_scan(c->span, exclusive, &k->o, x->in, x->out, n);
}

#define SCAN(NAME, INAME, INIT, ID, COUNT)                              \
SW_REDUCES(NAME, INAME, INIT, ID,                                       \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, count, type, op, comm),                                \
    check(c, ID, send, recv, count, type, op, comm, k, &reason,         \
          &result), run)

SCAN(Scan, Iscan, Scan_init, SW_COLL_SCAN, int)
SCAN(Exscan, Iexscan, Exscan_init, SW_COLL_EXSCAN, int)
#if SW_LARGE_COUNT
SCAN(Scan_c, Iscan_c, Scan_init_c, SW_COLL_SCAN, MPI_Count)
SCAN(Exscan_c, Iexscan_c, Exscan_init_c, SW_COLL_EXSCAN, MPI_Count)
#endif
