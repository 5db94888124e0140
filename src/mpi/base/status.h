/*
 * status.h - what a status says: how many bytes, or nothing.
 */
#ifndef SW_MPI_BASE_STATUS_H
#define SW_MPI_BASE_STATUS_H

#include "host.h"

/* What the standard calls an empty status (MPI 4.1, 3.7.3). */
const MPI_Status *sw_status_make_empty(void);
extern const MPI_Status *_Atomic sw_empty_status
    __attribute__((visibility("hidden")));

static inline void sw_status_empty(MPI_Status *status)
{
    const MPI_Status *empty = atomic_load_explicit(&sw_empty_status,
                                                   memory_order_acquire);
    if (status != MPI_STATUS_IGNORE)
        *status = *(sw_likely(empty) ? empty : sw_status_make_empty());
}

/* Bytes of a status; SIZE_MAX when undefined. */
static inline size_t sw_status_bytes(const MPI_Status *status)
{
    int n = MPI_UNDEFINED;
    host.Get_count(status, MPI_BYTE, &n);
    return n == MPI_UNDEFINED || n < 0 ? SIZE_MAX : (size_t)n;
}

/* Where a status has the fields that are known of its host, they are set
 * directly. */
void sw_status_set_bytes_by_host(MPI_Status *status, size_t bytes);
static inline void sw_status_set_bytes(MPI_Status *status, size_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
#if defined(OMPI_MAJOR_VERSION)
    status->_ucount = bytes;
#elif defined(MPICH_NUMVERSION) && !defined(MPI_ABI)
    status->count_lo = (int)(uint32_t)bytes;
    status->count_hi_and_cancelled = (int)(bytes >> 32 << 1) |
                                     (status->count_hi_and_cancelled & 1);
#else
    sw_status_set_bytes_by_host(status, bytes);
#endif
}

#endif
