/*
 * all.c - MPI_Waitall and MPI_Testall; see batch.h.
 */
#include "batch.h"

#include <string.h>

/* The host has completed those from `first` on, `n` of them, with `rc`; finish
 * those with a shadow. Returns what the call returns. */
static int finish_all(sw_batch_t *b, int first, int n, int rc)
{
    bool errors = rc != MPI_SUCCESS;
    if (!errors)
        sw_batch_no_errors(b->statuses + first, n);
    for (int i = first; i < first + n; i++) {
        sw_shadow_t *s = b->shadow[i];
        MPI_Status *status = &b->statuses[i];
        if (!s || !s->active ||
            (errors && status->MPI_ERROR == MPI_ERR_PENDING))
            continue;
        int error = sw_batch_conclude(b, i, status, MPI_ERR_IN_STATUS, &rc);
        if (error)
            status->MPI_ERROR = error;
    }
    return rc;
}

static int test_all(sw_batch_t *b, bool *over)
{
    int flag = 0;
    *over = false;
    for (; b->first < b->n; b->first++)
        if (b->shadow[b->first] && !sw_shadow_ready(b->shadow[b->first])) {
            sw_shadow_poke(b->shadow[b->first]->kind->over);
            return MPI_SUCCESS;
        }
    int rc = host.Testall(b->n, b->requests, &flag, b->statuses);
    *over = sw_complete_testall_over(flag, rc);
    return *over ? finish_all(b, 0, b->n, rc) : rc;
}

/* In MPI_Waitall, indices[] marks the requests that were completed out of their
 * turn. */
static bool is_early(const sw_batch_t *b, int i)
{
    return b->done && b->indices[i];
}

/* Is this one the host's, and may not be over? */
static bool is_open_host(const sw_batch_t *b, int i)
{
    return !b->shadow[i] && !is_early(b, i) &&
           !sw_request_is_done(b->requests[i]);
}

/* The first of the host's behind `i`, or b->n. `*from` only grows: the search
 * takes n steps in all. */
static int next_host(const sw_batch_t *b, int i, int *from)
{
    *from = *from > i ? *from : i + 1;
    while (*from < b->n && !is_open_host(b, *from))
        ++*from;
    return *from;
}

/* One of the host's. It may keep this thread where no other rank waits for what
 * this one does, and it is the `last` of the host's. */
static int test_one(sw_batch_t *b, int i, bool last, int *flag)
{
    bool alone = last && !sw_shadow_owing() && !sw_threaded;
    *flag = alone;
    int rc = alone ? host.Wait(&b->requests[i], &b->statuses[i])
                   : host.Test(&b->requests[i], flag, &b->statuses[i]);
    if (rc == MPI_SUCCESS)
        return rc;
    b->statuses[i].MPI_ERROR = rc;
    return MPI_ERR_IN_STATUS;
}

/* Complete the request at b->first; false: it could not be. While others may
 * wait for what we do in between, the host is asked for one alone: a question
 * for eight, or for all, takes so much longer that messages come more slowly.
 * (And MPICH and its kin end the program in some MPI_Testall; see
 * SW_TESTALL_ENDS.) */
static bool advance(sw_batch_t *b, int *from, int *raised)
{
    int i = b->first, flag = 0, rc = MPI_SUCCESS;
    sw_shadow_t *s = b->shadow[i];
    if (is_early(b, i)) {
        b->first++;
        return true;
    }
    if (!s && sw_request_is_done(b->requests[i])) {
        b->requests[i] = MPI_REQUEST_NULL;
        sw_status_empty(&b->statuses[i]);
        b->first++;
        return true;
    }
    if (s && s->active && s->kind->await)
        s->kind->await(s);
    sw_batch_hold(b, i, 1);
    switch (sw_batch_look(b, i)) {
    case SW_BATCH_OPEN: sw_shadow_poke(s->kind->over); break;
    case SW_BATCH_OVER:
        sw_status_empty(&b->statuses[i]);
        flag = 1;
        break;
    case SW_BATCH_ASK:
        rc = test_one(b, i, next_host(b, i, from) == b->n, &flag);
        break;
    }
    if (flag || rc != MPI_SUCCESS) {
        rc = finish_all(b, i, 1, rc);
        *raised = *raised ? *raised : rc;
        b->first++;
    }
    sw_batch_let_go(b, i, 1);
    return b->first > i;
}

/* Some requests advance only where a call names them: MPICH's, of collective
 * files. Another rank may need that before it does what the first request waits
 * for. So a long wait asks the host for one of the others, in turns. */
static void ask_another(sw_batch_t *b, int *turn, int *raised)
{
    int flag = 0;
    if (!b->done)
        memset(b->indices, 0, (size_t)b->n * sizeof *b->indices);
    b->done = 1;
    for (int k = b->first + 1; k < b->n; k++) {
        *turn = *turn > b->first && *turn + 1 < b->n ? *turn + 1 : b->first + 1;
        if (is_open_host(b, *turn))
            break;
    }
    if (!is_open_host(b, *turn))
        return;
    int rc = test_one(b, *turn, false, &flag);
    if (!flag && rc == MPI_SUCCESS)
        return;
    rc = finish_all(b, *turn, 1, rc);
    *raised = *raised ? *raised : rc;
    b->indices[*turn] = 1;
}

static int wait_all(sw_batch_t *b)
{
    int raised = MPI_SUCCESS, from = 0, turn = 0;
    sw_idle_t idle = {0};
    while (b->first < b->n)
        if (advance(b, &from, &raised)) {
            sw_idle_end(&idle);
            idle = (sw_idle_t){0};
        } else {
            if (sw_idle_is_long(&idle) && next_host(b, b->first, &from) < b->n)
                ask_another(b, &turn, &raised);
            sw_shadow_progress();
            sw_idle(&idle, sw_shadow_bell(b->shadow[b->first]));
        }
    return raised;
}

int sw_MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    if (!sw_batch_waits(n, requests))
        return host.Waitall(n, requests, statuses);
    sw_batch_t b;
    sw_batch_take(&b, n, requests, NULL, statuses);
    int rc = wait_all(&b);
    sw_batch_back(&b);
    return rc;
}

int sw_MPI_Testall(int n, MPI_Request requests[], int *flag,
                   MPI_Status statuses[])
{
    if (!sw_batch_serves(n, requests))
        return host.Testall(n, requests, flag, statuses);
    bool over;
    sw_batch_t b;
    sw_batch_take(&b, n, requests, NULL, statuses);
    int rc = sw_batch_serve(&b, test_all, false, &over);
    sw_batch_back(&b);
    *flag = over;
    return rc;
}
