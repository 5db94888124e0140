/*
 * windows.c - one-sided communication: fences, and what is made and freed by
 * all, are collectives; a fence has the bytes put and got since the last.
 * Other ways to synchronise cost nothing, and are counted.
 */
#include "virtual.h"
#include "traffic.h"

static _Atomic uint64_t moved;      /* bytes, by this rank, since a fence */

void sw_virtual_moved(MPI_Win window, int64_t count, MPI_Datatype type)
{
    (void)window;
    if (count > 0 && type != MPI_DATATYPE_NULL)
        atomic_fetch_add(&moved, (uint64_t)count * sw_known_type(type)->size);
}

static MPI_Comm comm_of(MPI_Win window)
{
    sw_event_t e = {.comm = NULL};
    sw_window_before(&e, window);
    return e.comm ? e.comm->handle : MPI_COMM_NULL;
}

/* The communicator itself may be gone, and is not asked for then. */
static void all_of(MPI_Win window, uint64_t bytes)
{
    sw_event_t e;
    MPI_Comm comm = comm_of(window);
    if (comm == MPI_COMM_NULL) {
        sw_virtual_unmodelled();
        return;
    }
    sw_virtual_event(&e, comm);
    e.amount.size = e.amount.sent = e.amount.received = bytes;
    sw_virtual_collective(&e, SW_COLLECTIVE_OTHER, -1);
}

void sw_virtual_fence(MPI_Win window)
{
    all_of(window, atomic_exchange(&moved, 0));
}

void sw_virtual_window_other(MPI_Win window)
{
    all_of(window, 0);
}

void sw_virtual_window_made(MPI_Win window, MPI_Comm comm)
{
    sw_window_made(window, comm);
}

void sw_virtual_window_freed(MPI_Win window)
{
    sw_window_freed(window);
}
