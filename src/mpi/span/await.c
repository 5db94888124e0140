/*
 * await.c - see await.h.
 */
#include "await.h"

#include "mpi/base/failure.h"

#include <errno.h>

/* Tests before a member with a core of its own gives it away for a moment. */
#define TESTS 32

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
    bool lost = false;
    for (unsigned turn = 0; code == MPI_SUCCESS; turn++) {
        code = host.Test(request, &flag, MPI_STATUS_IGNORE);
        if (flag || code != MPI_SUCCESS)
            break;
        if (sw_unlikely(sw_failure_told))
            lost = sw_comm_progress();
        else
            sw_comm_serve();
        if (lost)
            return abandon(s, request);
        if (turn >= TESTS || sw_wait_crowded())
            sw_os_yield();
    }
    return sw_span_status(s, code);
}
