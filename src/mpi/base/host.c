/* host.c - filling the table of host procedures; see host.h. */
#include "host.h"

#include "aware.h"
#include "failure.h"

sw_host_t host;

/* An MPI that lacks one of these is not the MPI its name says. */
static bool complete(void)
{
    return host.Initialized && host.Finalized && host.Comm_rank &&
           host.Comm_size && host.Comm_group && host.Comm_get_attr &&
           host.Type_size && host.Pack && host.Reduce_local && host.Barrier &&
           host.Bcast && host.Allreduce && host.Send && host.Recv;
}

const char *sw_host_bind(void *(*find)(const char *symbol))
{
#define SW_HOST_PROC(name) \
    host.name = (__typeof__(host.name))find("PMPI_" #name);
#include "host.inc"
#undef SW_HOST_PROC
    sw_failure_bind(find);
    sw_aware_bind(find);
    return complete() ? NULL
                      : "it lacks procedures that every MPI 2.2 library has";
}
