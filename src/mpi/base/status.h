/*
 * status.h - what a status says: how many bytes, or nothing.
 */
#ifndef SW_MPI_BASE_STATUS_H
#define SW_MPI_BASE_STATUS_H

#include "host.h"

/* What the standard calls an empty status (MPI 4.1, 3.7.3). By hand: MPICH
 * 4.0 leaves some as they are. */
static inline void sw_status_empty(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    host.Status_set_cancelled(status, 0);
    host.Status_set_elements(status, MPI_BYTE, 0);
}

/* Bytes of a status; SIZE_MAX when undefined. */
static inline size_t sw_status_bytes(const MPI_Status *status)
{
    int n = MPI_UNDEFINED;
    host.Get_count(status, MPI_BYTE, &n);
    return n == MPI_UNDEFINED || n < 0 ? SIZE_MAX : (size_t)n;
}
void sw_status_set_bytes(MPI_Status *status, size_t bytes);

#endif
