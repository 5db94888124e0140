/*
 * any.c - MPI_Waitany and MPI_Testany; see batch.h.
 */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

/* Where the host may be asked as it is. */
static int plain_any(bool blocking, int n, MPI_Request *requests, int *index,
                     int *flag, MPI_Status *status)
{
    MPI_Request few[SW_BATCH_FEW], *asked = few;
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    if (n > SW_BATCH_FEW)
        asked = sw_batch_room(n, sizeof *asked);
    memcpy(asked, requests, (size_t)n * sizeof *asked);
    *flag = 1;
    *index = MPI_UNDEFINED;
    int rc = sw_checked(
        blocking ? host.Waitany(n, requests, index, to)
                 : host.Testany(n, requests, index, flag, to), 1, to);
    if ((*flag || rc != MPI_SUCCESS) && *index >= 0 && *index < n) {
        sw_note_t note;
        sw_track_t *t;
        sw_note_take(asked[*index], &note);
        if (note.in.type)
            rc = sw_note_conclude(&note, rc, to);
        else if ((t = sw_track_of(asked[*index])) && t->active)
            sw_track_conclude(t, to, 0, &rc);
    }
    if (asked != few)
        free(asked);
    return rc;
}

static int try_any(sw_batch_t *b, bool *over)
{
    int hosts = 0, index = MPI_UNDEFINED, flag = 1;
    sw_batch_open_t open = {0};
    int rc = MPI_SUCCESS;
    for (int i = 0; i < b->n; i++) {
        sw_batch_found_t found = sw_batch_look(b, i);
        if (found == SW_BATCH_SPENT) {
            *over = true;
            b->done = i;
            sw_batch_take_spent(b, i, b->statuses, 0, &rc);
            return rc;
        }
        b->asked[i] = found == SW_BATCH_ASK ? b->requests[i]
                                            : MPI_REQUEST_NULL;
        hosts += b->asked[i] != MPI_REQUEST_NULL;
        if (found == SW_BATCH_OPEN)
            sw_batch_count_open(b, i, &open);
    }
    sw_batch_poke(&open);
    if (hosts)
        rc = sw_checked(host.Testany(b->n, b->asked, &index, &flag,
                                     b->statuses), 1, b->statuses);
    *over = rc != MPI_SUCCESS ||
            (flag && (index != MPI_UNDEFINED || !open.n));
    b->done = index;
    if (*over && rc == MPI_SUCCESS && index == MPI_UNDEFINED)
        sw_status_empty(b->statuses);
    if (*over && index != MPI_UNDEFINED && index >= 0)
        sw_batch_conclude(b, index, b->statuses, 0, &rc);
    return rc;
}

static int any(bool blocking, int n, MPI_Request *requests, int *index,
               int *flag, MPI_Status *status)
{
    if (sw_plain_requests())
        return plain_any(blocking, n, requests, index, flag, status);
    bool over;
    sw_batch_t b;
    sw_batch_take(&b, n, requests, NULL, status);
    int rc = sw_batch_serve(&b, try_any, blocking, &over);
    *index = over ? b.done : MPI_UNDEFINED;
    *flag = over;
    sw_batch_back(&b);
    return rc;
}

int sw_MPI_Waitany(int n, MPI_Request requests[], int *index,
                   MPI_Status *status)
{
    if (!sw_batch_concerns(n, requests))
        return sw_checked(host.Waitany(n, requests, index, status), 1, status);
    return any(true, n, requests, index, &(int){0}, status);
}

int sw_MPI_Testany(int n, MPI_Request requests[], int *index, int *flag,
                   MPI_Status *status)
{
    if (!sw_batch_concerns(n, requests))
        return sw_checked(host.Testany(n, requests, index, flag, status), 1,
                          status);
    return any(false, n, requests, index, flag, status);
}
