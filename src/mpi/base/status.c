/*
 * status.c - see status.h.
 */
#include "status.h"

void sw_status_set_bytes(MPI_Status *status, size_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
#ifdef SW_HAS_Status_set_elements_x
    if (host.Status_set_elements_x) {
        host.Status_set_elements_x(status, MPI_BYTE, (MPI_Count)bytes);
        return;
    }
#endif
    host.Status_set_elements(status, MPI_BYTE, (int)bytes);
}
