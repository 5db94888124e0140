/*
 * scan.c - MPI_Scan, MPI_Exscan, their large and nonblocking forms.
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
        (count && (!in || (needs_out && !recv) || sw_aliased(send, recv))))
        return false;
    k->id = id;
    k->root = 0;
    k->type = d;
    k->in = in;
    k->out = recv;
    k->ins = count;
    k->outs = needs_out ? count : 0;
    k->counts = NULL;
    *reason = SW_REASON_OPERATION;
    return sw_operation(op, d, &k->o);
}

static bool scan(sw_comm_t *c, const sw_reduction_t *k, MPI_Comm comm,
                 sw_reason_t *reason, int *result)
{
    sw_operands_t x;
    size_t n = (size_t)k->ins;
    bool exclusive = k->id == SW_COLL_EXSCAN;
    if (!sw_ready_to_reduce(c, k->id, n, &k->o, reason))
        return false;
    sw_operands(&x, k->in, k->ins, k->out, k->outs, k->type, comm);
    int status = !n ? SW_OK
        : c->ring ? sw_coll_scan(c->ring, exclusive, &k->o.reducer, x.in,
                                 x.out, n)
                  : sw_span_scan(c->span, exclusive, &k->o, x.in, x.out, n);
    sw_operands_end(&x, (!exclusive || c->me > 0) && status == SW_OK);
    *result = sw_finish(k->id, comm, status);
    return true;
}

#define SCAN(NAME, INAME, ID, COUNT)                                    \
SW_REDUCES(NAME, INAME, ID,                                             \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, count, type, op, comm),                                \
    check(c, ID, send, recv, count, type, op, comm, k, &reason,         \
          &result), scan)

SCAN(Scan, Iscan, SW_COLL_SCAN, int)
SCAN(Exscan, Iexscan, SW_COLL_EXSCAN, int)
#if SW_LARGE_COUNT
SCAN(Scan_c, Iscan_c, SW_COLL_SCAN, MPI_Count)
SCAN(Exscan_c, Iexscan_c, SW_COLL_EXSCAN, MPI_Count)
#endif
