/*
 * alltoall.c - MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw, in all their forms.
 * With MPI_IN_PLACE the blocks to send are copied out of the receive buffer
 * first (moving.c).
 */
#include "aliases.h"
#include "describe.h"

bool sw_alltoall(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
                 MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
                 MPI_Datatype recvtype)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    bool in_place = sendbuf == MPI_IN_PLACE;
    if (!sw_buffer_usable(recvbuf, recvcount, recvtype, k->comm, &r,
                          &k->result) ||
        (!in_place && !sw_buffer_usable(sendbuf, sendcount, sendtype, k->comm,
                                        &s, &k->result)) ||
        (sendcount == recvcount && sendtype == recvtype &&
         sw_aliased(k->id, sendbuf, recvbuf, recvcount)))
        return false;
    sw_move_t *m = sw_call_moves(k, 0, in_place);
    sw_half_rows(&m->out, sendbuf, sendcount, s);
    sw_half_rows(&m->in, recvbuf, recvcount, r);
    if (in_place)
        m->out = m->in;
    k->bytes = (size_t)recvcount * r->size;
    return true;
}

/* Are the lists of what this member receives right, and surely not those of
 * what it sends? `same`: the datatypes of both are the same. */
static bool receives(const sw_coll_call_t *k, const void *sendbuf,
                     sw_vector_t sendcounts, const void *recvbuf,
                     sw_vector_t recvcounts, sw_vector_t rdispls, bool same)
{
    return recvbuf != MPI_IN_PLACE &&
           sw_vector_lists_ok(recvcounts, rdispls, k->c->n) &&
           !(sendcounts.at == recvcounts.at && same &&
             sw_aliased(k->id, sendbuf, recvbuf,
                        sw_vector_counts_any(recvcounts, k->c->n)));
}

bool sw_alltoallv(sw_coll_call_t *k, const void *sendbuf,
                  sw_vector_t sendcounts, sw_vector_t sdispls,
                  MPI_Datatype sendtype, void *recvbuf, sw_vector_t recvcounts,
                  sw_vector_t rdispls, MPI_Datatype recvtype)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    bool in_place = sendbuf == MPI_IN_PLACE;
    if (!receives(k, sendbuf, sendcounts, recvbuf, recvcounts, rdispls,
                  sendtype == recvtype) ||
        !(r = sw_datatype(recvtype, k->comm, &k->result)) ||
        (!in_place && (!sw_vector_lists_ok(sendcounts, sdispls, k->c->n) ||
                       !(s = sw_datatype(sendtype, k->comm, &k->result)))))
        return false;
    sw_move_t *m = sw_call_moves(k, 0, in_place);
    sw_half_list(&m->out, sendbuf, sendcounts, sdispls, s);
    sw_half_list(&m->in, recvbuf, recvcounts, rdispls, r);
    if (in_place)
        m->out = m->in;
    k->bytes = 0;
    return true;
}

bool sw_alltoallw(sw_coll_call_t *k, const void *sendbuf,
                  sw_vector_t sendcounts, sw_vector_t sdispls,
                  const MPI_Datatype sendtypes[], void *recvbuf,
                  sw_vector_t recvcounts, sw_vector_t rdispls,
                  const MPI_Datatype recvtypes[])
{
    int n = k->c->n;
    bool in_place = sendbuf == MPI_IN_PLACE;
    if (!receives(k, sendbuf, sendcounts, recvbuf, recvcounts, rdispls,
                  sendtypes == recvtypes))
        return false;
    const sw_datatype_t **r = sw_call_room(k, 2 * (size_t)n * sizeof *r);
    const sw_datatype_t **s = r + n;
    if (!sw_vector_types_of(recvtypes, recvcounts, n, k->comm, r, &k->result) ||
        (!in_place && (!sw_vector_lists_ok(sendcounts, sdispls, n) ||
                       !sw_vector_types_of(sendtypes, sendcounts, n, k->comm, s,
                                           &k->result))))
        return false;
    sw_move_t *m = sw_call_moves(k, 0, in_place);
    sw_half_each(&m->out, sendbuf, sendcounts, sdispls, s);
    sw_half_each(&m->in, recvbuf, recvcounts, rdispls, r);
    if (in_place)
        m->out = m->in;
    k->bytes = 0;
    return true;
}
