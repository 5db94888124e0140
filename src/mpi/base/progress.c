/*
 * progress.c - see progress.h.
 */
#include "progress.h"

#include "datatype.h"
#include "failure.h"
#include "link.h"

/* Nanoseconds between two questions to the host about failures. */
#define ASK 1000000

static __thread MPI_Comm current
    __attribute__((tls_model("initial-exec"))) = MPI_COMM_NULL;

static void nothing(void)
{
}

void (*sw_progress_serve)(void) = nothing;

void sw_progress_use(MPI_Comm comm)
{
    current = comm;
}

void sw_progress_end(MPI_Comm comm)
{
    if (current == comm)
        current = MPI_COMM_NULL;
}

/* The probe must raise no error on a communicator with a member that has died:
 * it is made on a private one. (Open MPI has one progress for all.) */
static bool drive_with_failures(void)
{
    static __thread uint64_t asked __attribute__((tls_model("initial-exec")));
    int flag, rank;
    host.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, sw_datatype_comm(current), &flag,
                MPI_STATUS_IGNORE);
    uint64_t now = sw_os_now();
    if (current == MPI_COMM_NULL || now - asked < ASK)
        return false;
    asked = now;
    return sw_failure_of(current, &rank);
}

/* A probe drives the host's progress, and takes nothing: a message that it
 * finds stays where it is. It is made on the communicator at hand, or, where
 * that was freed, on the node's. (MPI_COMM_SELF would not do: MPICH answers for
 * it without looking at the network, and a peer in MPI_Win_lock would wait for
 * us for ever.) */
bool sw_progress(void)
{
    int flag;
    bool lost = false;
    if (sw_unlikely(sw_failure_told))
        lost = drive_with_failures();
    else if (current != MPI_COMM_NULL)
        host.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, current, &flag,
                    MPI_STATUS_IGNORE);
    else
        sw_link_poke();
    sw_progress_serve();
    return lost;
}
