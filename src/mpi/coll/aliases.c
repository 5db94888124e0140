/*
 * aliases.c - see aliases.h.
 */
#include "aliases.h"

/* Does it refuse an MPI_Reduce? It raises that error on the communicator, and
 * Open MPI that of an MPI_Allreduce on MPI_COMM_WORLD. */
static bool refuses(void)
{
    MPI_Comm comm = sw_datatype_comm(MPI_COMM_NULL);
    int both = 0;
    return comm == MPI_COMM_NULL || /* with sessions only: the usual case */
           host.Reduce(&both, &both, 1, MPI_INT, MPI_MAX, 0, comm) !=
               MPI_SUCCESS;
}

bool sw_host_refuses_aliases(sw_collective_t id, const void *buffer,
                             int64_t count)
{
    static _Atomic int known; /* 0: not yet, 1: no, 2: yes */
#ifdef OMPI_MAJOR_VERSION
    /* It looks in these two, and lets much pass in the second. */
    if (id != SW_COLL_REDUCE &&
        (id != SW_COLL_ALLREDUCE || !buffer || count < 2))
        return false;
#endif
    if (!atomic_load(&known))
        atomic_store(&known, refuses() ? 2 : 1);
    return atomic_load(&known) == 2;
}
