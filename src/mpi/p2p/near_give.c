/*
 * near_give.c - see near_give.h.
 */
#include "near_give.h"

#include "give.h"
#include "mpi/base/raise.h"
#include "near_receive.h"
#include "near_send.h"

#include <stdlib.h>

bool sw_near_give(sw_comm_t *c, MPI_Comm comm, void *parcel, size_t bytes,
                  int dest, int tag, int *rc)
{
    sw_near_t w;
    *rc = MPI_SUCCESS;
    if (dest == c->me || bytes > INT64_MAX ||
        !sw_near_describe(&w, c, comm, parcel, (int64_t)bytes, MPI_BYTE, dest,
                          tag, SW_NEAR_NONE, rc))
        return false;
    const sw_parcel_name_t name = sw_parcel_give(parcel);
    sw_near_send_parcel(&w, &name);
    return true;
}

/* Copies what is not given away. */
static void *copied(sw_comm_t *c, sw_early_t *m, size_t bytes,
                    MPI_Status *status, int *error)
{
    sw_near_t w;
    MPI_Comm comm = sw_comm_or_any(c);
    void *to = sw_parcel_alloc(bytes);
    if (!to)
        to = malloc(bytes ? bytes : 1);
    /* Without memory the message is received all the same, and is lost. */
    sw_near_describe(&w, c, comm, to, to ? (int64_t)bytes : 0, MPI_BYTE, c->me,
                     0, SW_NEAR_NONE, error);
    int rc = sw_near_mrecv(&w, m, status);
    *error = to ? rc : sw_raise(comm, MPI_ERR_NO_MEM);
    if (*error == MPI_SUCCESS)
        return to;
    free(to);
    return NULL;
}

int sw_near_take(sw_comm_t *c, sw_early_t *m, void **block, size_t *bytes,
                 MPI_Status *status)
{
    const sw_envelope_t *e = &m->envelope;
    int error = MPI_SUCCESS;
    *bytes = sw_near_length(e, m->payload);
    *block = sw_near_accept(e, m->payload);
    if (!*block) {
        *block = copied(c, m, *bytes, status, &error);
        return error;
    }
    sw_near_status(status, e->pattern.source, e->pattern.tag, *bytes);
    sw_shadow_match_enter();
    sw_matcher_drop(m);
    sw_shadow_match_leave();
    sw_give_count(SW_GIVE_TAKEN, *bytes);
    return MPI_SUCCESS;
}
