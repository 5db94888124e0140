/*
 * choice.c - which requests of a set are complete; see set.h.
 *
 * The engine says which requests are complete in virtual time, and the rank
 * asks the host for just those. The host may not have completed them yet. Then
 * they are `done`: the engine is through with them, and the next call takes
 * them first.
 *
 * Where the engine cannot say (set.h: sw_set_hosts), the host does, and the
 * engine is told.
 */
#include "set.h"

#include "node/base/settings.h"

#include <stdlib.h>

bool sw_set_ask(sw_set_t *s, sw_select_t what, sw_op_answer_t *answer)
{
    int listed = 0;
    sw_work_tell_matched();
    for (int i = 0; i < s->n; i++) {
        sw_work_t *w = s->work[i];
        if (!w || !w->active || w->done)
            continue;
        sw_virtual_tell(SW_OP_LIST, w->op.request);
        s->listed[listed++] = i;
    }
    return sw_virtual_ask(
        &(sw_vop_t){.kind = SW_OP_SELECT, .what = (uint8_t)what}, answer);
}

bool sw_set_ask_again(sw_set_t *s, sw_select_t what, sw_op_answer_t *answer)
{
    uint64_t key = (uint64_t)what + 2;
    for (int i = 0; i < s->n; i++)
        if (s->work[i] && s->work[i]->active && !s->work[i]->done)
            key = sw_board_key(key, s->work[i]->op.request);
    key |= 1;
    *answer = (sw_op_answer_t){.found = false};
    if (sw_virtual_still_not(key))
        return true;
    if (!sw_set_ask(s, what, answer))
        return false;
    if (!answer->found)
        sw_virtual_found_nothing(key, answer);
    return true;
}

bool sw_set_hosts(const sw_set_t *s)
{
    return sw_virtual_shared || s->strangers || !s->active ||
           !atomic_load(&sw_virtual_alive);
}

bool sw_set_come(sw_set_t *s, int i, MPI_Status *status, int *rc)
{
    sw_virtual_nap_t nap = {0};
    int flag = 0;
    sw_work_over(s->work[i]);
    *rc = served.Test(&s->requests[i], &flag, status);
    for (int k = 0; k < SW_SET_TRIES && !flag && *rc == MPI_SUCCESS; k++) {
        sw_virtual_nap(&nap);
        *rc = served.Test(&s->requests[i], &flag, status);
    }
    if (flag || s->requests[i] == MPI_REQUEST_NULL)
        sw_set_ended(s, i, status, true);
    return flag || *rc != MPI_SUCCESS;
}

int sw_set_come_late(sw_set_t *s, MPI_Status *status, int *rc)
{
    for (int i = 0; s->done && i < s->n; i++) {
        int flag = 0;
        if (!s->work[i] || !s->work[i]->active || !s->work[i]->done)
            continue;
        *rc = served.Test(&s->requests[i], &flag, status);
        if (!flag && *rc == MPI_SUCCESS)
            continue;
        if (flag || s->requests[i] == MPI_REQUEST_NULL)
            sw_set_ended(s, i, status, true);
        return i;
    }
    return -1;
}

int sw_set_next_idle(const sw_set_t *s, int i)
{
    for (; i < s->n; i++)
        if (s->work[i] && s->work[i]->active && s->work[i]->idle)
            return i;
    return -1;
}

int sw_set_complete_idle(sw_set_t *s, int i, MPI_Status *status)
{
    int flag = 0, rc = served.Test(&s->requests[i], &flag, status);
    sw_set_ended(s, i, status, false);
    return rc;
}

/* The host completes detached sends (detach.c) at once. In virtual time such a
 * send may wait for a receiver that waits for this rank. So the rank goes
 * on. */
void sw_set_host_completed(sw_set_t *s, int i, const MPI_Status *status)
{
    if (i == MPI_UNDEFINED || i < 0 || i >= s->n)
        return;
    const sw_work_t *w = s->work[i];
    bool sends = w && w->active && !w->done && !w->cancelled &&
                 w->op.kind == SW_OP_SEND;
    if (sends) {
        sw_virtual_lock();
        sw_work_drop(w, 0);
        sw_virtual_unlock();
    }
    sw_set_ended(s, i, status, sends);
}

static void *room_for(size_t bytes)
{
    void *room = malloc(bytes);
    if (!room) {
        sw_say("out of memory in MPI_Waitsome");
        abort();
    }
    return room;
}

static int by_place(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Of those in `indices`; `late`: they were complete in virtual time before. */
static int complete_some(sw_set_t *s, bool late, int *count_to, int *indices,
                         MPI_Status *statuses)
{
    int count = *count_to, flag = 0, rc = MPI_SUCCESS;
    size_t n = (size_t)count;
    sw_work_t **works = room_for(n * (sizeof *works + sizeof *s->requests +
                                      sizeof *statuses + 2 * sizeof(int)));
    MPI_Request *these = (void *)(works + n);
    MPI_Status *its = (void *)(these + n);
    int *places = (void *)(its + n), *told = places + n;
    if (statuses != MPI_STATUSES_IGNORE)
        its = statuses;
    qsort(indices, n, sizeof *indices, by_place);
    for (int k = 0; k < count; k++) {
        int place = places[k] = indices[k];
        works[k] = s->work[place];
        these[k] = s->requests[place];
        told[k] = k;
        if (!late)
            sw_work_over(works[k]);
    }
    if (!late)
        rc = sw_works_try_all(count, these, works, &flag, its);
    if (!flag && rc == MPI_SUCCESS)
        rc = served.Testsome(count, these, count_to, told, its);
    for (int k = 0; k < count; k++)
        s->requests[places[k]] = these[k];
    if (*count_to == MPI_UNDEFINED)
        *count_to = 0;
    for (int k = 0; k < *count_to; k++) {
        indices[k] = places[told[k]];
        if (rc == MPI_SUCCESS || s->requests[indices[k]] == MPI_REQUEST_NULL)
            sw_set_ended(s, indices[k], &its[k], true);
    }
    free(works);
    return rc;
}

int sw_set_complete_some(sw_set_t *s, int *count, int *indices,
                         MPI_Status *statuses)
{
    return complete_some(s, false, count, indices, statuses);
}

/* By the host's Testsome, which takes the status with the request: a look by
 * MPI_Request_get_status may lose that of a persistent receive
 * (sw_work_tell_matched). */
int sw_set_some_late(sw_set_t *s, int *count, int *indices,
                     MPI_Status *statuses)
{
    *count = 0;
    for (int i = 0; s->done && i < s->n; i++)
        if (s->work[i] && s->work[i]->active && s->work[i]->done)
            indices[(*count)++] = i;
    return *count ? complete_some(s, true, count, indices, statuses)
                  : MPI_SUCCESS;
}

int sw_set_chosen(sw_set_t *s, sw_select_t what, int *indices)
{
    sw_op_answer_t answer = {.found = false};
    int count = 0;
    if (s->active == s->done)
        return 0;
    if (!(what == SW_TEST_SOME ? sw_set_ask_again(s, what, &answer)
                               : sw_set_ask(s, what, &answer)))
        return -1;
    for (uint32_t k = 0; k < answer.count; k++)
        indices[count++] = s->listed[answer.which[k]];
    return count;
}

static int wait_some(int n, MPI_Request *requests, int *count, int *indices,
                     MPI_Status *statuses)
{
    sw_virtual_nap_t nap = {0};
    int rc;
    sw_virtual_in_host();
    if (!sw_virtual_naps())
        return served.Waitsome(n, requests, count, indices, statuses);
    for (;; sw_virtual_nap_and_tell(&nap))
        if ((rc = served.Testsome(n, requests, count, indices, statuses)) !=
                MPI_SUCCESS ||
            *count)
            return rc;
}

/* All that are. */
static int complete_idles(sw_set_t *s, int idle, int *count, int *indices,
                          MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;
    for (*count = 0; idle >= 0; idle = sw_set_next_idle(s, idle + 1)) {
        indices[*count] = idle;
        rc = sw_set_complete_idle(s, idle,
                                  statuses == MPI_STATUSES_IGNORE
                                      ? MPI_STATUS_IGNORE
                                      : &statuses[*count]);
        ++*count;
    }
    return rc;
}

int sw_set_some_by_host(sw_set_t *s, bool waits, int *count, int *indices,
                        MPI_Status *statuses)
{
    int idle = sw_set_next_idle(s, 0);
    if (idle >= 0)
        return complete_idles(s, idle, count, indices, statuses);
    void *room = NULL;
    MPI_Status *its = statuses;
    if (statuses == MPI_STATUSES_IGNORE)
        its = room = room_for((size_t)s->n * sizeof *its);
    int rc = waits ? wait_some(s->n, s->requests, count, indices, its)
                   : served.Testsome(s->n, s->requests, count, indices, its);
    if (rc == MPI_SUCCESS && *count != MPI_UNDEFINED)
        for (int k = 0; k < *count; k++)
            sw_set_host_completed(s, indices[k], &its[k]);
    if (!waits && rc == MPI_SUCCESS && *count == 0)
        sw_virtual_poll();
    free(room);
    return rc;
}
