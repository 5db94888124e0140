/*
 * scan.c - MPI_Scan, MPI_Exscan, in all their forms.
 */
#include "aliases.h"
#include "describe.h"

/* Member 0 gets no result of an exclusive one. */
static bool describe(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
                     int64_t count, MPI_Datatype datatype, MPI_Op op,
                     bool needs_out)
{
    const sw_datatype_t *d = sw_datatype(datatype, k->comm, &k->result);
    const void *in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    if (!d || count < 0 || recvbuf == MPI_IN_PLACE ||
        sw_buffer_missing(in, count, d) ||
        (needs_out && sw_buffer_missing(recvbuf, count, d)) ||
        sw_aliased(k->id, sendbuf, recvbuf, count))
        return false;
    return sw_describe_reduction(k, d, op, in, count, recvbuf,
                                 needs_out ? count : 0);
}

bool sw_scan(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
             int64_t count, MPI_Datatype datatype, MPI_Op op)
{
    return describe(k, sendbuf, recvbuf, count, datatype, op, true);
}

bool sw_exscan(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
               int64_t count, MPI_Datatype datatype, MPI_Op op)
{
    return describe(k, sendbuf, recvbuf, count, datatype, op, k->c->me > 0);
}
