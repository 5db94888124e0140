/*
 * fetch.h - a message has been received: if it is a descriptor, fetch what it
 * stands for.
 */
#ifndef SW_MPI_FETCH_H
#define SW_MPI_FETCH_H

#include "datatype.h"
#include "host.h"
#include "link.h"

/* 192 bytes have been received. If they are a descriptor, fetch: true, with
 * *bytes the message's length and *error an error class. */
bool sw_fetch(void *buffer, int64_t count, const sw_datatype_t *type,
              MPI_Comm comm, size_t *bytes, int *error);

/* The same while the host may still be writing the descriptor into a dense
 * buffer of `room` bytes: the first SW_DESCRIPTOR_BYTES of the message go to
 * `head`. Makes no MPI call. */
bool sw_fetch_early(void *buffer, size_t room, void *head, size_t *bytes,
                    int *error);

/* A receive has completed: fetch if need be, and correct the status. Returns
 * MPI_SUCCESS or an error class, not yet raised. */
int sw_received(void *buffer, int64_t count, const sw_datatype_t *type,
                MPI_Comm comm, MPI_Status *status);

/* Nobody sends messages as long as a descriptor, and a dense buffer does not
 * begin with the cookie: then no descriptor has come, whatever the status. */
static inline bool sw_plainly_none(const void *buffer,
                                   const sw_datatype_t *type)
{
    return type->dense && buffer && !sw_slots_warned() &&
           !sw_descriptor_begins(buffer, &sw_link_cookie);
}

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
