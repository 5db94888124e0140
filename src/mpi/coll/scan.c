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

static bool scan(sw_comm_t *c, sw_collective_t id, const void *send,
                 void *recv, int64_t count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm, sw_reason_t *reason, int *result)
{
    sw_reduction_t k;
    sw_operands_t x;
    if (!check(c, id, send, recv, count, type, op, comm, &k, reason, result))
        return *result != MPI_SUCCESS;
    if (!sw_ready_to_reduce(c, id, (size_t)count, &k.o, reason))
        return false;
    sw_operands(&x, k.in, count, recv, k.outs, k.type, comm);
    size_t n = (size_t)count;
    bool exclusive = id == SW_COLL_EXSCAN;
    int status = !count ? SW_OK
        : c->ring ? sw_coll_scan(c->ring, exclusive, &k.o.reducer, x.in, x.out,
                                 n)
                  : sw_span_scan(c->span, exclusive, &k.o, x.in, x.out, n);
    sw_operands_end(&x, (!exclusive || c->me > 0) && status == SW_OK);
    *result = sw_finish(id, comm, status);
    return true;
}

#define ISCAN(NAME, ID, COUNT)                                          \
SW_NONBLOCKING(NAME, ID,                                                \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, count, type, op, comm),                                \
    check(c, ID, send, recv, count, type, op, comm, &s->reduction,      \
          &reason, &result) && sw_reduction_goes_on(&s->reduction))

#define SCAN(NAME, ID, COUNT)                                           \
SW_COLLECTIVE(NAME, ID,                                                 \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, count, type, op, comm),                                \
    scan(c, ID, send, recv, count, type, op, comm, &reason, &result))

SCAN(Scan, SW_COLL_SCAN, int)
SCAN(Exscan, SW_COLL_EXSCAN, int)
ISCAN(Iscan, SW_COLL_SCAN, int)
ISCAN(Iexscan, SW_COLL_EXSCAN, int)
#if SW_LARGE_COUNT
SCAN(Scan_c, SW_COLL_SCAN, MPI_Count)
SCAN(Exscan_c, SW_COLL_EXSCAN, MPI_Count)
ISCAN(Iscan_c, SW_COLL_SCAN, MPI_Count)
ISCAN(Iexscan_c, SW_COLL_EXSCAN, MPI_Count)
#endif
