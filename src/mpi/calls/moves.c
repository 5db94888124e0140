/*
 * moves.c - see moves.h.
 */
#include "moves.h"

#include "mpi/base/status.h"

/* A block of no elements may have any type. */
sw_moves_sum_t sw_moves_sum_list(sw_moved_t *m, const sw_moves_data_t *d, int n)
{
    uint64_t bytes = 0;
    int64_t all = 0;
    for (int i = 0; i < n; i++) {
        int64_t count = sw_counts_at(d->counts, i);
        all += count;
        if (d->types && count)
            bytes += sw_moves_bytes(m, count, d->types[i]);
    }
    if (!d->types)
        bytes = sw_moves_bytes(m, all, d->type);
    return (sw_moves_sum_t){bytes, n > 0 ? bytes / (uint64_t)n : 0};
}

uint64_t sw_moves_come(const MPI_Status *status)
{
    /* Where headers show it, as their binary interfaces promise. */
#if defined(OMPI_MAJOR_VERSION)
    return status->_ucount;
#elif defined(MPICH_NUMVERSION) && !defined(MPI_ABI)
    return (uint64_t)(uint32_t)(status->count_hi_and_cancelled >> 1) << 32 |
           (uint32_t)status->count_lo;
#endif
    size_t bytes = sw_status_bytes(status);
#ifdef SW_HAS_Get_elements_x
    MPI_Count many = 0;
    if (sw_unlikely(bytes == SIZE_MAX) && host.Get_elements_x &&
        host.Get_elements_x(status, MPI_BYTE, &many) == MPI_SUCCESS)
        bytes = many < 0 ? 0 : (size_t)many;
#endif
    return bytes == SIZE_MAX ? 0 : bytes;
}
