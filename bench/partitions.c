/*
 * partitions.c - see partitions.h.
 */
#include "partitions.h"

#include <dlfcn.h>

#include "sampling.h"

static int (*psend_init)(const void *, int, MPI_Count, MPI_Datatype, int, int,
                         MPI_Comm, MPI_Info, MPI_Request *);
static int (*precv_init)(void *, int, MPI_Count, MPI_Datatype, int, int,
                         MPI_Comm, MPI_Info, MPI_Request *);
static int (*pready)(int, MPI_Request);

static MPI_Request sends = MPI_REQUEST_NULL, receives = MPI_REQUEST_NULL;
static int partitions;

bool sw_partitions_known(void)
{
    *(void **)&psend_init = dlsym(RTLD_DEFAULT, "MPI_Psend_init");
    *(void **)&precv_init = dlsym(RTLD_DEFAULT, "MPI_Precv_init");
    *(void **)&pready = dlsym(RTLD_DEFAULT, "MPI_Pready");
    return psend_init && precv_init && pready;
}

/* Straightway's switch: its own requests are bound in its mode. NULL: there is
 * none. */
static int (*switched(void))(int on)
{
    return sw_run.modes == SW_MODES ? sw_run.plan->accelerate : NULL;
}

int sw_partitions_bind(const void *send, void *receive, int length, int partner,
                       MPI_Comm comm)
{
    int (*accelerate)(int on) = switched();
    if (!accelerate)
        return 0;
    for (partitions = SW_PARTITIONS; length % partitions; partitions /= 2)
        ;
    int before = accelerate(1);
    int error = psend_init(send, partitions, length / partitions, MPI_BYTE,
                           partner, 0, comm, MPI_INFO_NULL, &sends);
    error |= precv_init(receive, partitions, length / partitions, MPI_BYTE,
                        partner, 0, comm, MPI_INFO_NULL, &receives);
    accelerate(before);
    return error;
}

void sw_partitions_free(void)
{
    int (*accelerate)(int on) = switched();
    if (!accelerate)
        return;
    int before = accelerate(1);
    MPI_Request_free(&sends);
    MPI_Request_free(&receives);
    accelerate(before);
}

int sw_partitions_send(void)
{
    int error = MPI_Start(&sends);
    for (int i = 0; i < partitions; i++)
        error |= pready(i, sends);
    return error | MPI_Wait(&sends, MPI_STATUS_IGNORE);
}

int sw_partitions_receive(void)
{
    int error = MPI_Start(&receives);
    return error | MPI_Wait(&receives, MPI_STATUS_IGNORE);
}
