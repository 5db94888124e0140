/*
 * status.c - MPI_Request_get_status and its kin in virtual time: tests that
 * leave the requests as they are.
 */
#include "set.h"

/* The request stays, and the engine has nothing more to say of it. */
int sw_virtual_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    sw_set_t s;
    sw_op_answer_t answer;
    if (request == MPI_REQUEST_NULL || !sw_set_take(&s, 1, &request))
        return served.Request_get_status(request, flag, status);
    int rc = MPI_SUCCESS;
    if (sw_set_hosts(&s) || s.done ||
        !sw_set_ask_again(&s, SW_TEST_ALL, &answer)) {
        rc = served.Request_get_status(request, flag, status);
        if (rc == MPI_SUCCESS && !*flag)
            sw_virtual_poll();
    } else if (!answer.found) {
        *flag = 0;
        sw_virtual_idle();
    } else {
        sw_work_over(s.work[0]);
        /* The host may not be so far yet. */
        rc = served.Request_get_status(request, flag, status);
    }
    sw_set_back(&s);
    return rc;
}

#ifdef SW_HAS_Request_get_status_all

/* Of several: first whether they are complete in virtual time, then of those
 * that are, the host, which may not be so far yet. */

int sw_virtual_get_status_all(int n, MPI_Request *requests, int *flag,
                              MPI_Status *statuses)
{
    sw_set_t s;
    sw_op_answer_t answer;
    if (n <= 0 || !requests || !sw_set_take(&s, n, requests))
        return served.Request_get_status_all(n, requests, flag, statuses);
    int rc = MPI_SUCCESS;
    bool asked = !sw_set_hosts(&s) && s.active > s.done &&
                 sw_set_ask_again(&s, SW_TEST_ALL, &answer);
    if (asked && !answer.found) {
        *flag = 0;
        sw_virtual_idle();
    } else {
        for (int i = 0; asked && i < n; i++)
            if (s.work[i] && s.work[i]->active)
                sw_work_over(s.work[i]);
        rc = served.Request_get_status_all(n, requests, flag, statuses);
        if (rc == MPI_SUCCESS && !*flag)
            sw_virtual_poll();
    }
    sw_set_back(&s);
    return rc;
}

/* Which are complete in virtual time and really, `most` of them. False: it is
 * for the host to say. */
static bool come_so_far(sw_set_t *s, sw_select_t what, int most, int *count,
                        int *indices, MPI_Status *statuses, int *rc)
{
    sw_op_answer_t answer = {.count = 0};
    *count = 0;
    *rc = MPI_SUCCESS;
    if (sw_set_hosts(s) || sw_set_next_idle(s, 0) >= 0)
        return false;
    if (s->active > s->done) {
        if (!sw_set_ask_again(s, what, &answer))
            return false;
        for (uint32_t k = 0; answer.found && k < answer.count; k++)
            sw_work_over(s->work[s->listed[answer.which[k]]]);
    }
    for (int i = 0; i < s->n && *count < most && *rc == MPI_SUCCESS; i++) {
        int flag = 0;
        if (!s->work[i] || !s->work[i]->active || !s->work[i]->done)
            continue;
        *rc = served.Request_get_status(s->requests[i], &flag,
                                        statuses == MPI_STATUSES_IGNORE
                                            ? MPI_STATUS_IGNORE
                                            : &statuses[*count]);
        if (*rc == MPI_SUCCESS && flag)
            indices[(*count)++] = i;
    }
    if (!*count && s->active > s->done)
        sw_virtual_idle();
    else if (!*count)
        sw_virtual_poll();
    return true;
}

int sw_virtual_get_status_any(int n, MPI_Request *requests, int *index,
                              int *flag, MPI_Status *status)
{
    sw_set_t s;
    int rc, count;
    MPI_Status mine;
    if (n <= 0 || !requests || !sw_set_take(&s, n, requests))
        return served.Request_get_status_any(n, requests, index, flag, status);
    if (come_so_far(&s, SW_TEST_ANY, 1, &count, index,
                    status == MPI_STATUS_IGNORE ? &mine : status, &rc)) {
        *flag = count > 0;
        if (!*flag)
            *index = MPI_UNDEFINED;
    } else {
        rc = served.Request_get_status_any(n, requests, index, flag, status);
        if (rc == MPI_SUCCESS && !*flag)
            sw_virtual_poll();
    }
    sw_set_back(&s);
    return rc;
}

int sw_virtual_get_status_some(int n, MPI_Request *requests, int *count,
                               int *indices, MPI_Status *statuses)
{
    sw_set_t s;
    int rc;
    if (n <= 0 || !requests || !sw_set_take(&s, n, requests))
        return served.Request_get_status_some(n, requests, count, indices,
                                              statuses);
    if (!come_so_far(&s, SW_TEST_SOME, n, count, indices, statuses, &rc)) {
        rc = served.Request_get_status_some(n, requests, count, indices,
                                            statuses);
        if (rc == MPI_SUCCESS && *count == 0)
            sw_virtual_poll();
    }
    sw_set_back(&s);
    return rc;
}

#endif
