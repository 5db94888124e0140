/*
 * bcast.c - MPI_Bcast in all its forms.
 */
#include "describe.h"

bool sw_bcast(sw_coll_call_t *k, void *buffer, int64_t count,
              MPI_Datatype datatype, int root)
{
    const sw_comm_t *c = k->c;
    const sw_datatype_t *d = sw_datatype(datatype, k->comm, &k->result);
    if (!d || count < 0 || root < 0 || root >= c->n || buffer == MPI_IN_PLACE ||
        sw_buffer_missing(buffer, count, d))
        return false;
    sw_move_t *m = sw_call_moves(k, root, false);
    sw_half_rows(&m->out, buffer, count, c->me == root ? d : NULL);
    sw_half_rows(&m->in, buffer, count, c->me == root ? NULL : d);
    k->bytes = (size_t)count * d->size;
    return true;
}
