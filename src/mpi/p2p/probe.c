/*
 * probe.c - MPI_Probe and its kin.
 */
#include "far.h"
#include "mpi/request/complete.h"
#include "near_probe.h"

int sw_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Status *status)
{
    sw_pattern_t p;
    sw_comm_t *c;
    sw_shadow_progress();
    if (!sw_near_probes(&p, &c, source, tag, comm))
        return host.Iprobe(source, tag, comm, flag, status);
    return sw_near_iprobe(c, &p, false, flag, status);
}

int sw_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    sw_pattern_t p;
    sw_comm_t *c;
    int flag;
    return sw_near_probes(&p, &c, source, tag, comm)
               ? sw_near_iprobe(c, &p, true, &flag, status)
               : sw_far_probe(source, tag, comm, status);
}

int sw_MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag,
                   MPI_Message *message, MPI_Status *status)
{
    sw_pattern_t p;
    sw_comm_t *c;
    sw_shadow_progress();
    if (!sw_near_probes(&p, &c, source, tag, comm))
        return host.Improbe(source, tag, comm, flag, message, status);
    return sw_near_improbe(c, &p, false, flag, message, status);
}

int sw_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                  MPI_Status *status)
{
    sw_pattern_t p;
    sw_comm_t *c;
    int flag;
    return sw_near_probes(&p, &c, source, tag, comm)
               ? sw_near_improbe(c, &p, true, &flag, message, status)
               : sw_far_mprobe(source, tag, comm, message, status);
}
