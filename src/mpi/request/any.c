/*
 * any.c - MPI_Waitany and MPI_Testany; see batch.h.
 */
#include "batch.h"

static int try_any(sw_batch_t *b, bool *over)
{
    int hosts = 0, index = MPI_UNDEFINED, flag = 1;
    sw_batch_open_t open = {0};
    int rc = MPI_SUCCESS;
    for (int i = 0; i < b->n; i++) {
        sw_batch_found_t found = sw_batch_look(b, i);
        if (found == SW_BATCH_OVER) {
            *over = true;
            b->done = i;
            sw_batch_take_over(b, i, b->statuses, 0, &rc);
            return rc;
        }
        b->asked[i] = found == SW_BATCH_ASK ? b->requests[i] : MPI_REQUEST_NULL;
        hosts += b->asked[i] != MPI_REQUEST_NULL;
        if (found == SW_BATCH_OPEN)
            sw_batch_count_open(b, i, &open);
    }
    sw_batch_poke(&open);
    if (hosts)
        rc = host.Testany(b->n, b->asked, &index, &flag, b->statuses);
    *over = rc != MPI_SUCCESS || (flag && (index != MPI_UNDEFINED || !open.n));
    b->done = index;
    if (*over && rc == MPI_SUCCESS && index == MPI_UNDEFINED)
        sw_status_empty(b->statuses);
    if (*over && index != MPI_UNDEFINED && index >= 0)
        sw_batch_conclude(b, index, b->statuses, 0, &rc);
    return rc;
}

/* Where the host has no part in any of them, or one of ours is over. False: it
 * is for the host to say. */
static bool own_any(sw_idle_t *idle, bool blocking, int n,
                    MPI_Request *requests, int *index, int *flag,
                    MPI_Status *status, int *rc)
{
    if (!blocking || n > SW_BATCH_FEW)
        sw_shadow_progress();
    while (true) {
        int open = 0, others = 0;
        sw_shadow_t *s = NULL;
        for (int i = 0; i < n; i++) {
            sw_batch_seen_t seen = sw_batch_see(requests[i], &s);
            if (seen == SW_SEEN_OVER) {
                *index = i;
                *flag = true;
                sw_batch_end(s, &requests[i], status, 0, rc);
                return true;
            }
            open += seen == SW_SEEN_OPEN;
            others += seen == SW_SEEN_OTHER;
        }
        if (others || !open)
            return false;
        sw_shadow_poke(true);
        *index = MPI_UNDEFINED;
        *flag = false;
        if (!blocking)
            return true;
        sw_shadow_progress();
        sw_batch_idle(idle, n, requests);
    }
}

static int any(bool blocking, int n, MPI_Request *requests, int *index,
               int *flag, MPI_Status *status)
{
    bool over;
    sw_batch_t b;
    int rc = MPI_SUCCESS;
    sw_idle_t idle = {0};
    bool own = own_any(&idle, blocking, n, requests, index, flag, status, &rc);
    sw_idle_end(&idle);
    if (own)
        return rc;
    sw_batch_take(&b, n, requests, NULL, status);
    rc = sw_batch_serve(&b, try_any, blocking, &over);
    *index = over ? b.done : MPI_UNDEFINED;
    *flag = over;
    sw_batch_back(&b);
    return rc;
}

int sw_MPI_Waitany(int n, MPI_Request requests[], int *index,
                   MPI_Status *status)
{
    if (!sw_batch_waits(n, requests))
        return host.Waitany(n, requests, index, status);
    return any(true, n, requests, index, &(int){0}, status);
}

int sw_MPI_Testany(int n, MPI_Request requests[], int *index, int *flag,
                   MPI_Status *status)
{
    if (!sw_batch_serves(n, requests))
        return host.Testany(n, requests, index, flag, status);
    return any(false, n, requests, index, flag, status);
}
