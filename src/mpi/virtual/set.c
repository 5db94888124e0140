/*
 * set.c - the requests of one call: taken, completed, given back; see set.h.
 *
 * Where MPI_Testall would end the program (SW_TESTALL_ENDS), and MPI_Waitall
 * would keep the core, the set keeps the requests concerned apart: it asks for
 * their status one by one, and completes them one by one when all are complete.
 */
#include "set.h"

#include "mpi/request/complete.h"
#include "node/base/settings.h"

#include <stdlib.h>

bool sw_set_take(sw_set_t *s, int n, MPI_Request *requests)
{
    *s = (sw_set_t){.n = n, .requests = requests};
    s->work = s->few;
    s->listed = s->few_listed;
    if (n > SW_SET_FEW) {
        s->many = malloc((size_t)n * (sizeof *s->work + sizeof *s->listed));
        if (!s->many)
            return false;
        s->work = s->many;
        s->listed = (int *)(void *)(s->work + n);
    }
    sw_virtual_lock();
    for (int i = 0; i < n; i++) {
        s->work[i] = NULL;
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        sw_work_t *w = s->work[i] = sw_work_take((uintptr_t)requests[i]);
        s->strangers |= !w || w->cancelled;
        if (!w || !w->active)
            continue;
        s->active++;
        s->done += w->done;
    }
    sw_virtual_unlock();
    return true;
}

void sw_set_back(sw_set_t *s)
{
    sw_virtual_lock();
    for (int i = 0; i < s->n; i++)
        sw_work_back(s->work[i]);
    sw_virtual_unlock();
    free(s->many);
}

void sw_set_ended(sw_set_t *s, int i, const MPI_Status *status, bool waited)
{
    sw_work_t *w = s->work[i];
    int gone = 0;
    if (!w || !w->active)
        return;
    sw_virtual_lock();
    if (w->cancelled)
        host.Test_cancelled(status, &gone);
    if (gone && !w->done) {
        sw_work_drop(w, SW_DROP_CANCELLED);
    } else if (!gone) {
        if (!waited && !w->done)
            sw_work_await(w);
        if (w->wild)
            sw_work_matched(w, status);
        if (w->wild && !w->told) /* the status does not tell */
            sw_virtual_tell(SW_OP_DROP, w->op.request);
    }
    if (w->makes.comm != MPI_COMM_NULL)
        sw_known_comm_kept("duplicate", w->makes.parent, w->makes.comm,
                           w->makes.id);
    w->cancelled = w->done = w->idle = w->told = false;
    if (w->persistent) {
        w->active = false;
        sw_work_back(w);
    } else {
        sw_work_end(w);
    }
    s->work[i] = NULL;
    sw_virtual_unlock();
}

static bool looks(const sw_set_t *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->work[i] && (s->work[i]->wild || s->work[i]->cancelled))
            return true;
    return false;
}

MPI_Status *sw_set_statuses(const sw_set_t *s, MPI_Status *statuses,
                            void **room)
{
    *room = statuses == MPI_STATUSES_IGNORE && looks(s)
                ? malloc((size_t)s->n * sizeof *statuses)
                : NULL;
    return *room ? *room : statuses;
}

/* Must some be kept apart? */
static bool apart(int n, sw_work_t *const *works)
{
    for (int i = 0; i < n && SW_TESTALL_ENDS; i++)
        if (works[i] && works[i]->apart)
            return true;
    return false;
}

/* Are all that are kept apart complete? They stay as they are. */
static int look_apart(int n, const MPI_Request *requests,
                      sw_work_t *const *works, int *flag)
{
    int rc = MPI_SUCCESS;
    *flag = 1;
    for (int i = 0; i < n && *flag && rc == MPI_SUCCESS; i++)
        if (works[i] && works[i]->apart)
            rc = served.Request_get_status(requests[i], flag,
                                           MPI_STATUS_IGNORE);
    return rc;
}

/* All are; `rc` is that of the others. */
static int complete_apart(int n, MPI_Request *requests, sw_work_t *const *works,
                          MPI_Status *statuses, int rc)
{
    bool ignored = statuses == MPI_STATUSES_IGNORE;
    for (int i = 0; i < n; i++) {
        int flag, error;
        if (!works[i] || !works[i]->apart)
            continue;
        error = served.Test(&requests[i], &flag,
                            ignored ? MPI_STATUS_IGNORE : &statuses[i]);
        if (!ignored)
            statuses[i].MPI_ERROR = error;
        if (error != MPI_SUCCESS)
            rc = MPI_ERR_IN_STATUS;
    }
    return rc;
}

static int test_apart(int n, MPI_Request *requests, sw_work_t *const *works,
                      int *flag, MPI_Status *statuses)
{
    int rc = look_apart(n, requests, works, flag);
    if (!*flag || rc != MPI_SUCCESS)
        return rc;
    MPI_Request *others = malloc((size_t)n * sizeof *others);
    if (!others) {
        sw_say("out of memory in MPI_Testall");
        abort();
    }
    for (int i = 0; i < n; i++)
        others[i] = works[i] && works[i]->apart ? MPI_REQUEST_NULL
                                                : requests[i];
    rc = served.Testall(n, others, flag, statuses);
    for (int i = 0; i < n; i++)
        if (!works[i] || !works[i]->apart)
            requests[i] = others[i];
    free(others);
    return *flag || rc != MPI_SUCCESS
               ? complete_apart(n, requests, works, statuses, rc)
               : rc;
}

int sw_works_test_all(int n, MPI_Request *requests, sw_work_t *const *works,
                      int *flag, MPI_Status *statuses)
{
    return apart(n, works) ? test_apart(n, requests, works, flag, statuses)
                           : served.Testall(n, requests, flag, statuses);
}

int sw_works_try_all(int n, MPI_Request *requests, sw_work_t *const *works,
                     int *flag, MPI_Status *statuses)
{
    sw_virtual_nap_t nap = {0};
    int rc = sw_works_test_all(n, requests, works, flag, statuses);
    for (int k = 0; k < SW_SET_TRIES && !*flag && rc == MPI_SUCCESS; k++) {
        sw_virtual_nap(&nap);
        rc = sw_works_test_all(n, requests, works, flag, statuses);
    }
    return rc;
}
