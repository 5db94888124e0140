/*
 * await.c - see await.h.
 */
#include "await.h"

#include "mpi/base/failure.h"

#include <errno.h>

/* Nanoseconds for which a member keeps its core. It waits for another node, and
 * none of this node's ranks can end that. A rank that spins inside the host
 * would take a core that this member gave away, for milliseconds. */
#define KEEP 500000

int sw_span_status(sw_span_t *s, int code)
{
    int class = MPI_ERR_OTHER;
    if (sw_likely(code == MPI_SUCCESS))
        return SW_OK;
    if (sw_failure_told) {
        s->ring->broken = true;
        return SW_BROKEN;
    }
    host.Error_class(code, &class);
    errno = EIO;
    return class == MPI_ERR_TRUNCATE ? SW_TRUNCATED : SW_UNREACHABLE;
}

/* A member has died, maybe on a node that no message of this request comes
 * from. Nobody can cancel a collective, but it ends on a revoked lane. */
static int abandon(sw_span_t *s, MPI_Request *request)
{
    int flag = 0;
    s->ring->broken = true;
    sw_failure_revoke(s->lane);
    while (!flag && *request != MPI_REQUEST_NULL &&
           host.Test(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        sw_os_yield();
    return SW_BROKEN;
}

int sw_span_await(sw_span_t *s, MPI_Request *request, int code)
{
    int flag = 0;
    uint64_t end = s->cramped ? 0 : sw_os_now() + KEEP;
    while (code == MPI_SUCCESS) {
        code = host.Test(request, &flag, MPI_STATUS_IGNORE);
        if (flag || code != MPI_SUCCESS)
            break;
        if (sw_unlikely(sw_failure_told) && sw_comm_progress())
            return abandon(s, request);
        sw_comm_serve();
        if (end && sw_os_now() > end)
            end = 0;
        else if (!end)
            sw_os_yield();
    }
    return sw_span_status(s, code);
}
