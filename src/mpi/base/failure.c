/*
 * failure.c - see failure.h.
 *
 * The procedures are extensions, not in every <mpi.h>, and are looked up by
 * name. MPIX_Comm_get_failed and MPIX_Comm_is_revoked are local and raise
 * nothing, unlike a probe, which would call the communicator's error handler
 * on every look.
 */
#include "failure.h"

#include "raise.h"
#include "comm.h"
#include "progress.h"

/* How long to wait for news that another member has heard already, ns. */
#define NEWS 10000000000ull

static int (*get_failed)(MPI_Comm comm, MPI_Group *failed);
static int (*is_revoked)(MPI_Comm comm, int *flag);
static int (*revoke)(MPI_Comm comm);
static const bool *enabled;
bool sw_failure_told;

void sw_failure_bind(void *(*find)(const char *symbol))
{
#ifdef OMPI_MAJOR_VERSION
    *(void **)&get_failed = find("PMPIX_Comm_get_failed");
    *(void **)&is_revoked = find("PMPIX_Comm_is_revoked");
    *(void **)&revoke = find("PMPIX_Comm_revoke");
    /* Where this says no, the procedures above raise errors. */
    *(const void **)&enabled = find("ompi_ftmpi_enabled");
#endif
}

void sw_failure_look(void)
{
    sw_failure_told = enabled && *enabled && get_failed && is_revoked;
}

bool sw_failure_revoked(MPI_Comm comm)
{
    int flag = 0;
    return is_revoked(comm, &flag) == MPI_SUCCESS && flag;
}

void sw_failure_revoke(MPI_Comm comm)
{
    if (revoke && comm != MPI_COMM_NULL)
        revoke(comm);
}

bool sw_failure_of(MPI_Comm comm, int *rank)
{
    int size = 0, first = 0;
    MPI_Group failed = MPI_GROUP_NULL, all;
    if (!sw_failure_told)
        return false;
    *rank = MPI_ANY_SOURCE;
    if (sw_failure_revoked(comm))
        return true;
    if (get_failed(comm, &failed) != MPI_SUCCESS)
        return false;
    host.Group_size(failed, &size);
    if (size > 0) {
        host.Comm_group(comm, &all);
        host.Group_translate_ranks(failed, 1, &first, all, rank);
        host.Group_free(&all);
    }
    host.Group_free(&failed);
    return size > 0;
}

int sw_failure_raise(MPI_Comm comm)
{
    uint64_t end = sw_os_now() + NEWS;
    int rank = MPI_ANY_SOURCE, flag, code = MPI_SUCCESS;
    while (!sw_failure_of(comm, &rank) && sw_failure_told &&
           sw_os_now() < end) {
        sw_progress();
        sw_os_yield();
    }
    if (sw_failure_told)
        code = host.Iprobe(rank, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
    return code != MPI_SUCCESS ? code : sw_raise(comm, MPI_ERR_OTHER);
}
