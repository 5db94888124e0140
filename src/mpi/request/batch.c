/*
 * batch.c - see batch.h.
 */
#include "batch.h"

#include "node/base/settings.h"

#include <stdlib.h>

void *sw_batch_room(int n, size_t each)
{
    void *room = malloc((size_t)n * each + 64);
    if (!room) {
        sw_say("out of memory in a wait for %d requests", n);
        abort();
    }
    return room;
}

void sw_batch_take(sw_batch_t *b, int n, MPI_Request *requests, int *indices,
                   MPI_Status *statuses)
{
    bool few = n <= SW_BATCH_FEW;
    size_t each = sizeof *b->shadow + sizeof *b->asked + sizeof *b->statuses +
                  sizeof *b->indices;
    b->n = n;
    b->requests = requests;
    b->first = b->done = 0;
    b->room = few ? NULL : sw_batch_room(n, each);
    b->shadow = few ? b->few_shadows : b->room;
    b->asked = few ? b->few_asked : (void *)(b->shadow + n);
    b->statuses = few ? b->few_statuses : (void *)(b->asked + n);
    b->indices = indices ? indices
                 : few   ? b->few_indices
                         : (void *)(b->statuses + n);
    if (!sw_batch_statuses_ignored(statuses))
        b->statuses = statuses;
    for (int i = 0; i < n; i++) {
        b->shadow[i] = sw_request_is_done(requests[i])
                           ? NULL
                           : sw_shadow_of(requests[i]);
        if (b->shadow[i])
            sw_shadow_claim(b->shadow[i]);
    }
}

void sw_batch_back(sw_batch_t *b)
{
    for (int i = 0; i < b->n; i++)
        if (b->shadow[i])
            sw_shadow_unclaim(b->shadow[i]);
    free(b->room);
}

void sw_batch_hold(const sw_batch_t *b, int first, int n)
{
    for (int i = first; i < first + n; i++)
        if (b->shadow[i])
            sw_shadow_hold(b->shadow[i]);
}

void sw_batch_let_go(const sw_batch_t *b, int first, int n)
{
    for (int i = first; i < first + n; i++)
        if (b->shadow[i])
            sw_shadow_let_go(b->shadow[i]);
}

void sw_batch_take_over(sw_batch_t *b, int i, MPI_Status *status, int as,
                        int *rc)
{
    b->asked[i] = b->requests[i];
    sw_status_empty(status);
    int error = sw_batch_conclude(b, i, status, as, rc);
    if (error)
        status->MPI_ERROR = error;
    b->asked[i] = MPI_REQUEST_NULL;
}

int sw_batch_conclude(sw_batch_t *b, int i, MPI_Status *status, int as, int *rc)
{
    sw_shadow_t *s = b->shadow[i];
    if (!s || !s->active) {
        b->requests[i] = b->asked[i];
        return MPI_SUCCESS;
    }
    bool over = !s->persistent;
    int error = sw_shadow_conclude(s, status, as, rc);
    if (over) {
        b->requests[i] = MPI_REQUEST_NULL;
        b->shadow[i] = NULL;
    }
    return error;
}

void sw_batch_end(sw_shadow_t *s, MPI_Request *request, MPI_Status *status,
                  int as, int *rc)
{
    MPI_Status mine, *to = sw_batch_statuses_ignored(status) ? &mine : status;
    bool over = !s->persistent;
    sw_shadow_claim(s);
    sw_shadow_hold(s);
    s->ended = true;
    sw_status_empty(to);
    int error = sw_shadow_conclude(s, to, as, rc);
    if (error)
        to->MPI_ERROR = error;
    if (over)
        *request = MPI_REQUEST_NULL;
}

int sw_batch_serve(sw_batch_t *b, sw_batch_turn_t *turn, bool blocking,
                   bool *over)
{
    sw_idle_t idle = {0};
    if (!blocking)
        sw_shadow_progress();
    while (true) {
        sw_batch_hold(b, 0, b->n);
        int rc = turn(b, over);
        sw_batch_let_go(b, 0, b->n);
        if (*over || !blocking)
            return rc;
        sw_shadow_progress();
        sw_idle(&idle, NULL);
    }
}

/* The doorbell that rings for each open one of them; NULL: there is none. */
static sw_doorbell_t *bell_of(int n, const MPI_Request *requests)
{
    sw_doorbell_t *bell = NULL;
    for (int i = 0; i < n; i++) {
        sw_shadow_t *s = sw_shadow_of(requests[i]);
        if (!s || !s->active)
            continue;
        sw_doorbell_t *own = sw_shadow_bell(s);
        if (!own || (bell && own != bell))
            return NULL;
        bell = own;
    }
    return bell;
}

void sw_batch_idle(sw_idle_t *idle, int n, const MPI_Request *requests)
{
    sw_idle(idle, sw_idle_is_long(idle) ? bell_of(n, requests) : NULL);
}
