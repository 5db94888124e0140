/*
 * some.c - MPI_Waitsome and MPI_Testsome; see batch.h.
 */
#include "batch.h"

/* Ask the host for those in `asked`. Their statuses and indices come behind
 * those that are there. Returns how many, or MPI_UNDEFINED: there is no active
 * request among them. */
static int ask_host(sw_batch_t *b, int before, int *rc)
{
    int count = 0;
    MPI_Status *statuses = b->statuses + before;
    int *indices = b->indices + before;
    int said = host.Testsome(b->n, b->asked, &count, indices, statuses);
    bool errors = said != MPI_SUCCESS;
    if (errors)
        *rc = said;
    if (!errors && count > 0)
        sw_batch_no_errors(statuses, count);
    for (int k = 0; count != MPI_UNDEFINED && k < count; k++) {
        int error = sw_batch_conclude(b, indices[k], &statuses[k],
                                      MPI_ERR_IN_STATUS, rc);
        if (error && !errors)
            statuses[k].MPI_ERROR = error;
    }
    return count;
}

/* First those of ours that are over, then those that the host knows. */
static int try_some(sw_batch_t *b, bool *over)
{
    int hosts = 0, over_now = 0, count = MPI_UNDEFINED;
    sw_batch_open_t open = {0};
    int rc = MPI_SUCCESS;
    for (int i = 0; i < b->n; i++) {
        sw_batch_found_t found = sw_batch_look(b, i);
        b->asked[i] = MPI_REQUEST_NULL;
        if (found == SW_BATCH_OPEN) {
            sw_batch_count_open(b, i, &open);
        } else if (found == SW_BATCH_ASK) {
            b->asked[i] = b->requests[i];
            hosts += b->asked[i] != MPI_REQUEST_NULL;
        } else {
            b->indices[over_now] = i;
            sw_batch_take_over(b, i, &b->statuses[over_now++],
                               MPI_ERR_IN_STATUS, &rc);
        }
    }
    sw_batch_poke(&open);
    if (hosts)
        count = ask_host(b, over_now, &rc);
    bool nothing = count == MPI_UNDEFINED && !open.n && !over_now;
    b->done = nothing ? MPI_UNDEFINED
                      : over_now + (count == MPI_UNDEFINED ? 0 : count);
    *over = rc != MPI_SUCCESS || b->done;
    return rc;
}

/* Where the host has no part in any of them. False: it has. */
static bool own_some(sw_idle_t *idle, bool blocking, int n,
                     MPI_Request *requests, int *count, int *indices,
                     MPI_Status *statuses, int *rc)
{
    bool ignored = sw_batch_statuses_ignored(statuses);
    if (!blocking || n > SW_BATCH_FEW)
        sw_shadow_progress();
    while (true) {
        int open = 0, over = 0;
        sw_shadow_t *s = NULL;
        for (int i = 0; i < n; i++) {
            sw_batch_seen_t seen = sw_batch_see(requests[i], &s);
            if (seen == SW_SEEN_OTHER)
                return false;
            if (seen == SW_SEEN_OVER)
                indices[over++] = i;
            open += seen == SW_SEEN_OPEN;
        }
        if (!open && !over)
            return false;
        for (int k = 0; k < over; k++) {
            MPI_Request *request = &requests[indices[k]];
            sw_batch_end(sw_shadow_of(*request), request,
                         ignored ? statuses : &statuses[k], MPI_ERR_IN_STATUS,
                         rc);
        }
        *count = over;
        if (!over)
            sw_shadow_poke(true);
        if (over || !blocking)
            return true;
        sw_shadow_progress();
        sw_batch_idle(idle, n, requests);
    }
}

static int some(bool blocking, int n, MPI_Request *requests, int *count,
                int *indices, MPI_Status *statuses)
{
    bool over;
    sw_batch_t b;
    int rc = MPI_SUCCESS;
    sw_idle_t idle = {0};
    bool own = own_some(&idle, blocking, n, requests, count, indices, statuses,
                        &rc);
    sw_idle_end(&idle);
    if (own)
        return rc;
    sw_batch_take(&b, n, requests, indices, statuses);
    rc = sw_batch_serve(&b, try_some, blocking, &over);
    *count = b.done;
    sw_batch_back(&b);
    return rc;
}

int sw_MPI_Waitsome(int n, MPI_Request requests[], int *count, int indices[],
                    MPI_Status statuses[])
{
    if (!sw_batch_waits(n, requests))
        return host.Waitsome(n, requests, count, indices, statuses);
    return some(true, n, requests, count, indices, statuses);
}

int sw_MPI_Testsome(int n, MPI_Request requests[], int *count, int indices[],
                    MPI_Status statuses[])
{
    if (!sw_batch_serves(n, requests))
        return host.Testsome(n, requests, count, indices, statuses);
    return some(false, n, requests, count, indices, statuses);
}
