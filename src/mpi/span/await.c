/*
 * await.c - see await.h.
 */
#include "await.h"

#include "mpi/base/failure.h"
#include "mpi/base/patience.h"
#include "mpi/base/progress.h"

#include <errno.h>

/* Nanoseconds for which a member keeps its core. It waits for another node, and
 * none of this node's ranks can end that. A rank that spins inside the host
 * would take a core that this member gave away, for milliseconds. Where ranks
 * are patient none spins there. */
#define KEEP 500000
#define KEEP_BYTE 10 /* likewise, for each byte */

sw_await_t sw_await_begin(sw_span_t *s, size_t bytes)
{
    uint64_t keep = KEEP + (uint64_t)bytes * KEEP_BYTE;
    bool gives = s->cramped || sw_patience();
    return (sw_await_t){.s = s, .keep = gives ? 0 : sw_os_now() + keep};
}

bool sw_await_rest(sw_await_t *wait)
{
    if (sw_unlikely(sw_failure_told) && sw_progress()) {
        wait->lost = true;
        return true;
    }
    sw_progress_serve();
    if (!wait->keep)
        sw_idle(&wait->idle, NULL);
    else if (sw_os_now() > wait->keep)
        wait->keep = 0;
    return false;
}

void sw_await_abandon(sw_await_t *wait)
{
    wait->s->sequence->broken = true;
    sw_failure_revoke(wait->s->lane);
}

int sw_await_status(sw_span_t *s, int code)
{
    int class = MPI_ERR_OTHER;
    if (sw_likely(code == MPI_SUCCESS))
        return SW_OK;
    if (sw_failure_told) {
        s->sequence->broken = true;
        return SW_BROKEN;
    }
    host.Error_class(code, &class);
    errno = EIO;
    return class == MPI_ERR_TRUNCATE ? SW_TRUNCATED : SW_UNREACHABLE;
}

int sw_span_await(sw_span_t *s, MPI_Request *request, int code, size_t bytes)
{
    int flag = 0;
    sw_await_t wait = sw_await_begin(s, bytes);
    while (code == MPI_SUCCESS) {
        code = host.Test(request, &flag, MPI_STATUS_IGNORE);
        if (flag || code != MPI_SUCCESS)
            break;
        if (!wait.lost && sw_await_rest(&wait))
            sw_await_abandon(&wait);
    }
    return wait.lost ? SW_BROKEN : sw_await_status(s, code);
}
