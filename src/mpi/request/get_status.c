/*
 * get_status.c - MPI_Request_get_status and its forms for arrays.
 */
#include "mpi/base/link.h"
#include "mpi/base/raise.h"
#include "shadow.h"

/* The request stays; so does what was fetched for it. */
static int look_at(sw_shadow_t *s, int *flag, MPI_Status *status)
{
    *flag = sw_shadow_ready(s);
    if (!*flag) {
        sw_link_poke();
        return MPI_SUCCESS;
    }
    MPI_Status seen;
    sw_status_empty(&seen);
    int error = s->kind->peek(s, &seen);
    if (status != MPI_STATUS_IGNORE)
        *status = seen;
#ifndef OMPI_MAJOR_VERSION
    /* MPICH and its kin raise it here, and again when it is completed. */
    if (error && !s->result)
        return sw_raise_pending(s->comm, error);
#else
    (void)error;
#endif
    return s->result;
}

int sw_MPI_Request_get_status(MPI_Request request, int *flag,
                              MPI_Status *status)
{
    sw_shadow_progress();
    sw_shadow_t *s = sw_shadow_of(request);
    if (!s || !s->active)
        return host.Request_get_status(request, flag, status);
    sw_shadow_hold(s);
    int rc = look_at(s, flag, status);
    sw_shadow_let_go(s);
    return rc;
}

#ifdef SW_HAS_Request_get_status_all

static bool any_shadowed(int n, const MPI_Request *requests)
{
    for (int i = 0; i < n; i++)
        if (sw_shadow_of(requests[i]))
            return true;
    return false;
}

/* Nothing to wait for: none, or a persistent one with a shadow that is not
 * started. */
static bool idle(MPI_Request request)
{
    sw_shadow_t *s = sw_shadow_of(request);
    return request == MPI_REQUEST_NULL || (s && !s->active);
}

/* How many of the requests have completed, the first `most` of them in
 * indices and statuses; *waiting: how many there are to wait for. */
static int look_at_all(int n, const MPI_Request requests[], int most,
                       int indices[], MPI_Status statuses[], bool ignored,
                       int *waiting)
{
    int found = 0;
    *waiting = 0;
    for (int i = 0; i < n && found < most; i++) {
        MPI_Status status;
        int flag = 0;
        if (idle(requests[i]))
            continue;
        ++*waiting;
        sw_MPI_Request_get_status(requests[i], &flag, &status);
        if (!flag)
            continue;
        indices[found] = i;
        if (!ignored)
            statuses[found] = status;
        found++;
    }
    return found;
}

int sw_MPI_Request_get_status_any(int n, const MPI_Request requests[],
                                  int *index, int *flag, MPI_Status *status)
{
    int waiting;
    if (!any_shadowed(n, requests))
        return host.Request_get_status_any(n, requests, index, flag, status);
    *flag = look_at_all(n, requests, 1, index, status,
                        status == MPI_STATUS_IGNORE, &waiting);
    if (!*flag)
        *index = MPI_UNDEFINED;
    if (!waiting)
        sw_status_empty(status);
    *flag = *flag || !waiting;
    return MPI_SUCCESS;
}

int sw_MPI_Request_get_status_some(int n, const MPI_Request requests[],
                                   int *count, int indices[],
                                   MPI_Status statuses[])
{
    int waiting;
    if (!any_shadowed(n, requests))
        return host.Request_get_status_some(n, requests, count, indices,
                                            statuses);
    *count = look_at_all(n, requests, n, indices, statuses,
                         statuses == MPI_STATUSES_IGNORE, &waiting);
    if (!waiting)
        *count = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int sw_MPI_Request_get_status_all(int n, const MPI_Request requests[],
                                  int *flag, MPI_Status statuses[])
{
    if (!any_shadowed(n, requests))
        return host.Request_get_status_all(n, requests, flag, statuses);
    *flag = 1;
    for (int i = 0; i < n && *flag; i++) {
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE
                                                             : &statuses[i];
        if (idle(requests[i]))
            sw_status_empty(status);
        else
            sw_MPI_Request_get_status(requests[i], flag, status);
    }
    return MPI_SUCCESS;
}

#endif
