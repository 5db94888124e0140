/*
 * wait.c - MPI_Wait and its kin in virtual time: the engine is told what the
 * rank waits for, and the host completes it; of several requests the engine
 * says which.
 */
#include "set.h"

#include <stdlib.h>

int sw_virtual_wait(MPI_Request *request, MPI_Status *status)
{
    sw_set_t s;
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    if (!request || *request == MPI_REQUEST_NULL ||
        !sw_set_take(&s, 1, request))
        return served.Wait(request, status);
    sw_work_t *w = s.work[0];
    bool tells = w && w->active && !w->done && !s.strangers;
    if (tells)
        sw_work_await(w);
    else
        sw_virtual_in_host();
    int rc = sw_virtual_finish(request, w && w->active ? its : status,
                               tells && !w->wild);
    if (*request == MPI_REQUEST_NULL || rc == MPI_SUCCESS)
        sw_set_ended(&s, 0, its, tells);
    sw_set_back(&s);
    return rc;
}

/* A rank that waits for a receive with wildcards says so of one; of the others
 * it tells when the host has matched them (op.h). */
static int put_waits(const sw_set_t *s)
{
    int wild = -1;
    for (int i = 0; i < s->n; i++) {
        sw_work_t *w = s->work[i];
        if (!w || !w->active || w->done || w->cancelled)
            continue;
        if (!w->wild)
            sw_work_await(w);
        else if (wild < 0)
            wild = i;
    }
    if (wild >= 0)
        sw_work_await(s->work[wild]);
    return wild;
}

/* `ask`: the engine may be asked when that will be. */
static int finish_all(sw_set_t *s, MPI_Status *statuses, bool ask)
{
    sw_virtual_nap_t nap = {0};
    int flag = 0;
    sw_virtual_release();
    if (!sw_virtual_naps())
        return served.Waitall(s->n, s->requests, statuses);
    int rc = sw_works_test_all(s->n, s->requests, s->work, &flag, statuses);
    if (ask && !flag && rc == MPI_SUCCESS)
        sw_virtual_pause();
    while (!flag && rc == MPI_SUCCESS) {
        rc = sw_works_test_all(s->n, s->requests, s->work, &flag, statuses);
        if (!flag && rc == MPI_SUCCESS)
            sw_virtual_nap_and_tell(&nap);
    }
    return rc;
}

int sw_virtual_waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    sw_set_t s;
    void *room;
    if (n <= 0 || !requests || !sw_set_take(&s, n, requests))
        return served.Waitall(n, requests, statuses);
    MPI_Status *its = sw_set_statuses(&s, statuses, &room);
    int wild = put_waits(&s);
    if (s.strangers)
        sw_virtual_in_host();
    int rc = finish_all(&s, its, wild < 0 && !s.strangers);
    bool told = its != MPI_STATUSES_IGNORE;
    if (wild >= 0 && told &&
        (rc == MPI_SUCCESS || requests[wild] == MPI_REQUEST_NULL))
        sw_set_ended(&s, wild, &its[wild], true);
    for (int i = 0; i < n; i++) {
        sw_work_t *w = s.work[i];
        if (w && w->active &&
            (rc == MPI_SUCCESS || requests[i] == MPI_REQUEST_NULL))
            sw_set_ended(&s, i, told ? &its[i] : NULL,
                         !w->wild && !w->cancelled);
    }
    free(room);
    sw_set_back(&s);
    return rc;
}

static int wait_any(int n, MPI_Request *requests, int *index,
                    MPI_Status *status)
{
    sw_virtual_nap_t nap = {0};
    int flag = 0, rc;
    sw_virtual_in_host();
    if (!sw_virtual_naps())
        return served.Waitany(n, requests, index, status);
    for (;; sw_virtual_nap_and_tell(&nap))
        if ((rc = served.Testany(n, requests, index, &flag, status)) !=
                MPI_SUCCESS ||
            flag)
            return rc;
}

int sw_virtual_waitany(int n, MPI_Request *requests, int *index,
                       MPI_Status *status)
{
    sw_set_t s;
    sw_op_answer_t answer;
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    if (n <= 0 || !requests || !sw_set_take(&s, n, requests))
        return served.Waitany(n, requests, index, status);
    int rc = MPI_SUCCESS, found = -1, late = -1;
    if (!sw_set_hosts(&s)) {
        late = sw_set_come_late(&s, its, &rc);
        if (late < 0 && s.active > s.done &&
            sw_set_ask(&s, SW_SELECT_ANY, &answer) && answer.count)
            found = s.listed[answer.which[0]];
    }
    if (late >= 0) {
        *index = late;
    } else if (found >= 0 && sw_set_come(&s, found, its, &rc)) {
        *index = found;
    } else {
        int idle = sw_set_next_idle(&s, 0);
        rc = idle >= 0 ? sw_set_complete_idle(&s, *index = idle, its)
                       : wait_any(n, requests, index, its);
        if (rc == MPI_SUCCESS && idle < 0)
            sw_set_host_completed(&s, *index, its);
    }
    sw_set_back(&s);
    return rc;
}

int sw_virtual_waitsome(int n, MPI_Request *requests, int *count, int *indices,
                        MPI_Status *statuses)
{
    sw_set_t s;
    int rc = MPI_SUCCESS, some = 0;
    if (n <= 0 || !requests || !sw_set_take(&s, n, requests))
        return served.Waitsome(n, requests, count, indices, statuses);
    *count = 0;
    if (!sw_set_hosts(&s)) {
        rc = sw_set_some_late(&s, count, indices, statuses);
        if (!*count && rc == MPI_SUCCESS)
            some = sw_set_chosen(&s, SW_SELECT_SOME, indices);
    }
    if (some > 0) {
        *count = some;
        rc = sw_set_complete_some(&s, count, indices, statuses);
    }
    if (!*count && rc == MPI_SUCCESS)
        rc = sw_set_some_by_host(&s, true, count, indices, statuses);
    sw_set_back(&s);
    return rc;
}
