/*
 * test.c - MPI_Test and its kin in virtual time: the engine says whether they
 * find something; then the host is asked, which has it or will have it soon.
 */
#include "set.h"

#include <stdlib.h>

int sw_virtual_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    sw_set_t s;
    sw_op_answer_t answer;
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    if (!request || *request == MPI_REQUEST_NULL ||
        !sw_set_take(&s, 1, request))
        return served.Test(request, flag, status);
    int rc = MPI_SUCCESS;
    if (!sw_set_hosts(&s) && s.done) {
        *flag = sw_set_come_late(&s, its, &rc) == 0;
        if (!*flag && rc == MPI_SUCCESS)
            sw_virtual_poll();
    } else if (!sw_set_hosts(&s) &&
               sw_set_ask_again(&s, SW_TEST_ALL, &answer)) {
        *flag = answer.found && sw_set_come(&s, 0, its, &rc);
        if (!answer.found)
            sw_virtual_idle();
    } else {
        rc = served.Test(request, flag, its);
        if (rc == MPI_SUCCESS && *flag)
            sw_set_host_completed(&s, 0, its);
        else if (rc == MPI_SUCCESS)
            sw_virtual_poll();
    }
    sw_set_back(&s);
    return rc;
}

static int all_by_host(sw_set_t *s, int *flag, MPI_Status *statuses)
{
    void *room;
    MPI_Status *its = sw_set_statuses(s, statuses, &room);
    int rc = sw_works_test_all(s->n, s->requests, s->work, flag, its);
    if (rc == MPI_SUCCESS && *flag)
        for (int i = 0; i < s->n; i++)
            sw_set_host_completed(s, i,
                                  its == MPI_STATUSES_IGNORE ? NULL : &its[i]);
    if (rc == MPI_SUCCESS && !*flag)
        sw_virtual_poll();
    free(room);
    return rc;
}

int sw_virtual_testall(int n, MPI_Request *requests, int *flag,
                       MPI_Status *statuses)
{
    sw_set_t s;
    sw_op_answer_t answer;
    void *room;
    if (n <= 0 || !requests || !sw_set_take(&s, n, requests))
        return served.Testall(n, requests, flag, statuses);
    int rc = MPI_SUCCESS;
    if (sw_set_hosts(&s)) {
        rc = all_by_host(&s, flag, statuses);
    } else if (s.active > s.done &&
               !sw_set_ask_again(&s, SW_TEST_ALL, &answer)) {
        rc = all_by_host(&s, flag, statuses);
    } else if (s.active > s.done && !answer.found) {
        *flag = 0;
        sw_virtual_idle();
    } else {
        MPI_Status *its = sw_set_statuses(&s, statuses, &room);
        for (int i = 0; i < n; i++)
            if (s.work[i] && s.work[i]->active)
                sw_work_over(s.work[i]);
        rc = sw_works_try_all(n, requests, s.work, flag, its);
        if (!*flag && rc == MPI_SUCCESS)
            sw_virtual_poll();
        for (int i = 0; i < n && (*flag || rc != MPI_SUCCESS); i++)
            if (rc == MPI_SUCCESS || requests[i] == MPI_REQUEST_NULL)
                sw_set_ended(&s, i, its == MPI_STATUSES_IGNORE ? NULL : &its[i],
                             true);
        free(room);
    }
    sw_set_back(&s);
    return rc;
}

int sw_virtual_testany(int n, MPI_Request *requests, int *index, int *flag,
                       MPI_Status *status)
{
    sw_set_t s;
    sw_op_answer_t answer = {.found = false};
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    if (n <= 0 || !requests || !sw_set_take(&s, n, requests))
        return served.Testany(n, requests, index, flag, status);
    int rc = MPI_SUCCESS;
    int late = sw_set_hosts(&s) ? -1 : sw_set_come_late(&s, its, &rc);
    if (late >= 0) {
        *flag = 1;
        *index = late;
    } else if (!sw_set_hosts(&s) &&
               (s.active == s.done ||
                sw_set_ask_again(&s, SW_TEST_ANY, &answer))) {
        int found = answer.found && answer.count ? s.listed[answer.which[0]]
                                                 : -1;
        *flag = found >= 0 && sw_set_come(&s, found, its, &rc);
        *index = *flag ? found : MPI_UNDEFINED;
        if (found < 0 && s.active == s.done)
            sw_virtual_poll();
        else if (found < 0)
            sw_virtual_idle();
    } else {
        int idle = sw_set_next_idle(&s, 0);
        if (idle >= 0) {
            rc = sw_set_complete_idle(&s, *index = idle, its);
            *flag = 1;
        } else {
            rc = served.Testany(n, requests, index, flag, its);
        }
        if (rc == MPI_SUCCESS && *flag && idle < 0)
            sw_set_host_completed(&s, *index, its);
        else if (rc == MPI_SUCCESS)
            sw_virtual_poll();
    }
    sw_set_back(&s);
    return rc;
}

int sw_virtual_testsome(int n, MPI_Request *requests, int *count, int *indices,
                        MPI_Status *statuses)
{
    sw_set_t s;
    if (n <= 0 || !requests || !sw_set_take(&s, n, requests))
        return served.Testsome(n, requests, count, indices, statuses);
    int rc = MPI_SUCCESS, some = -1, late = 0;
    if (!sw_set_hosts(&s)) {
        rc = sw_set_some_late(&s, &late, indices, statuses);
        if (!late && rc == MPI_SUCCESS)
            some = sw_set_chosen(&s, SW_TEST_SOME, indices);
    }
    if (late || rc != MPI_SUCCESS) {
        *count = late;
    } else if (some >= 0) {
        *count = some;
        if (some)
            rc = sw_set_complete_some(&s, count, indices, statuses);
        else if (s.active == s.done)
            sw_virtual_poll();
        else
            sw_virtual_idle();
    } else {
        rc = sw_set_some_by_host(&s, false, count, indices, statuses);
    }
    sw_set_back(&s);
    return rc;
}
