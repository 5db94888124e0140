/*
 * storage.c - files; see traffic.h.
 */
#include "traffic.h"

void sw_record_file_wrote(sw_event_t *e, int64_t count, MPI_Datatype type)
{
    if (!e->paused)
        e->amount.size = e->amount.sent = sw_event_bytes(e, count, type);
}

/* Fewer than asked for at the end of a file. */
void sw_record_file_read(sw_event_t *e, int64_t count, MPI_Datatype type,
                         const MPI_Status *status)
{
    if (e->paused)
        return;
    e->amount.size = sw_event_bytes(e, count, type);
    e->amount.received = status ? sw_moves_come(status) : e->amount.size;
}
