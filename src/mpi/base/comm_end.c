/*
 * comm_end.c - MPI_Comm_free and MPI_Comm_disconnect.
 *
 * Callbacks of the program's attributes may call collectives on the
 * communicator that ends. Some members may have lost their state of it by then,
 * and others not: the host calls the callbacks in an order in which the
 * attributes came, which each member may set in another one. So the host serves
 * these calls on all members. No member makes a new state: the host might not
 * delete its attribute any more, and the next communicator with the same handle
 * would find it.
 */
#include "comm.h"
#include "guard.h"

static int end(MPI_Comm *comm, int (*how)(MPI_Comm *))
{
    SW_INSIDE_STILL;
    MPI_Comm handle = comm ? *comm : MPI_COMM_NULL, outer = sw_comm_ending;
    sw_comm_t *c = sw_comm_look_up(handle);
    sw_comm_served_t before;
    if (c)
        before = sw_comm_leave(c, SW_REASON_ENDS);
    if (c)
        sw_comm_parts_end(c);
    sw_comm_ending = handle; /* a callback may end another one */
    int result = how(comm);
    sw_comm_ending = outer;
    if (result != MPI_SUCCESS && c && c == sw_comm_look_up(handle))
        sw_comm_return(c, &before);
    return result;
}

int sw_MPI_Comm_free(MPI_Comm *comm)
{
    return end(comm, host.Comm_free);
}

int sw_MPI_Comm_disconnect(MPI_Comm *comm)
{
    return end(comm, host.Comm_disconnect);
}
