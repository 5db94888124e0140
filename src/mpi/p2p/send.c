/*
 * send.c - MPI_Send and its kin, in all modes and forms.
 */
#include "calls.h"
#include "far.h"
#include "mpi/request/complete.h"

/* Near ranks need not be told that a receive is there already. */
static sw_send_mode_t near_mode(sw_send_mode_t mode)
{
    return mode == SW_SEND_READY ? SW_SEND_STANDARD : mode;
}

bool sw_send(sw_send_mode_t mode, const void *buf, int64_t count,
             MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int *rc)
{
    sw_near_t w;
    if (sw_likely(sw_near_sends(&w, buf, count, datatype, dest, tag, comm, rc)))
        *rc = sw_near_send(&w, near_mode(mode));
    else if (*rc == MPI_SUCCESS &&
             (mode == SW_SEND_BUFFERED || !sw_shadow_owing()))
        return false;
    else if (*rc == MPI_SUCCESS)
        *rc = sw_far_send(mode, buf, count, datatype, dest, tag, comm);
    return true;
}

bool sw_isend(sw_send_mode_t mode, const void *buf, int64_t count,
              MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request, int *rc)
{
    sw_near_t w;
    if (sw_unlikely(
            !sw_near_sends(&w, buf, count, datatype, dest, tag, comm, rc)))
        return *rc != MPI_SUCCESS;
    *rc = sw_near_isend(&w, near_mode(mode), request);
    return true;
}

bool sw_send_init(sw_send_mode_t mode, const void *buf, int64_t count,
                  MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request *request, int *rc)
{
    sw_near_t w;
    if (!sw_near_sends(&w, buf, count, datatype, dest, tag, comm, rc))
        return *rc != MPI_SUCCESS;
    *rc = sw_near_send_init(&w, near_mode(mode), request);
    return true;
}
