/*
 * complete.c - what completes, starts and ends requests; see virtual.h.
 *
 * A set is the requests of one call, with the works that are known of them,
 * taken so that nobody else finds them meanwhile.
 */
#include "virtual.h"

#include <stdlib.h>
#include <string.h>

#define FEW 16

typedef struct {
    int n;
    MPI_Request *requests;
    sw_work_t **work;           /* [n]; NULL: nothing, or not known        */
    int *listed;                /* [n] their places, as the engine counts  */
    int active;                 /* works under way                         */
    int done;                   /* of them, those of no more interest      */
    int first_done;
    bool strangers;             /* requests that are not known, or may be
                                 * cancelled: the host decides              */
    sw_work_t *few[FEW];
    int few_listed[FEW];
    void *many;
} set_t;

/* False: no memory. */
static bool take(set_t *s, int n, MPI_Request *requests)
{
    *s = (set_t){.n = n, .requests = requests, .first_done = -1};
    s->work = s->few;
    s->listed = s->few_listed;
    if (n > FEW) {
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
        if (w->done && s->done++ == 0)
            s->first_done = i;
    }
    sw_virtual_unlock();
    return true;
}

static void give_back(set_t *s)
{
    sw_virtual_lock();
    for (int i = 0; i < s->n; i++)
        sw_work_back(s->work[i]);
    sw_virtual_unlock();
    free(s->many);
}

static void wait_for(const sw_work_t *w)
{
    sw_virtual_tell(SW_OP_WAIT, w->op.request);
    for (uint32_t i = 0; i < w->other_count; i++)
        sw_virtual_tell(SW_OP_WAIT, w->others[i]);
}

/* The host has cancelled it: it has taken no message, and takes none. */
static void cancel(const sw_work_t *w)
{
    sw_virtual_put(&(sw_vop_t){.kind = SW_OP_DROP, .request = w->op.request,
                              .flags = SW_DROP_CANCELLED});
    for (uint32_t i = 0; i < w->other_count; i++)
        sw_virtual_tell(SW_OP_DROP, w->others[i]);
}

/* The host has completed request i of a set. `waited`: the engine knows that
 * it is over. */
static void ended(set_t *s, int i, const MPI_Status *status, bool waited)
{
    sw_work_t *w = s->work[i];
    int gone = 0;
    if (!w || !w->active)
        return;
    sw_virtual_lock();
    if (w->cancelled)
        host.Test_cancelled(status, &gone);
    if (gone && !w->done) {
        cancel(w);
    } else if (!gone) {
        if (!waited && !w->done)
            wait_for(w);
        if (w->wild)
            sw_work_matched(w, status);
        if (w->wild && !w->told)        /* the status does not tell */
            sw_virtual_tell(SW_OP_DROP, w->op.request);
    }
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

/* One --------------------------------------------------------------------- */

int sw_virtual_wait(MPI_Request *request, MPI_Status *status)
{
    set_t s;
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    if (!request || *request == MPI_REQUEST_NULL || !take(&s, 1, request))
        return served.Wait(request, status);
    sw_work_t *w = s.work[0];
    bool tells = w && w->active && !w->done && !s.strangers;
    if (tells)
        wait_for(w);
    else
        sw_virtual_in_host();
    int rc = sw_virtual_finish(request, w && w->active ? its : status,
                               tells && !w->wild);
    if (*request == MPI_REQUEST_NULL || rc == MPI_SUCCESS)
        ended(&s, 0, its, tells);
    give_back(&s);
    return rc;
}

/* All --------------------------------------------------------------------- */

/* Where the program wants no statuses and wildcards or cancelling make us look
 * at them: our own. NULL: no memory. */
static MPI_Status *statuses_for(int n, MPI_Status *statuses, bool ignored,
                                void **room)
{
    *room = NULL;
    if (!ignored)
        return statuses;
    *room = malloc((size_t)n * sizeof *statuses);
    return *room;
}

static bool looks(const set_t *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->work[i] && (s->work[i]->wild || s->work[i]->cancelled))
            return true;
    return false;
}

/* A rank that waits for a receive with wildcards says so of one; of the others
 * it tells when the host has matched them (op.h). */
static int put_waits(const set_t *s)
{
    int wild = -1;
    for (int i = 0; i < s->n; i++) {
        sw_work_t *w = s->work[i];
        if (!w || !w->active || w->done || w->cancelled)
            continue;
        if (!w->wild)
            wait_for(w);
        else if (wild < 0)
            wild = i;
    }
    if (wild >= 0)
        wait_for(s->work[wild]);
    return wild;
}

int sw_virtual_waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    set_t s;
    void *room = NULL;
    if (n <= 0 || !requests || !take(&s, n, requests))
        return served.Waitall(n, requests, statuses);
    bool own = statuses == MPI_STATUSES_IGNORE && looks(&s);
    MPI_Status *its = statuses_for(n, statuses, own, &room);
    if (own && !its) {
        its = statuses;
        own = false;
    }
    int wild = put_waits(&s);
    if (s.strangers)
        sw_virtual_in_host();
    int rc = sw_virtual_finish_all(n, requests, its,
                                   wild < 0 && !s.strangers);
    bool told = its != MPI_STATUSES_IGNORE;
    if (wild >= 0 && told &&
        (rc == MPI_SUCCESS || requests[wild] == MPI_REQUEST_NULL))
        ended(&s, wild, &its[wild], true);
    for (int i = 0; i < n; i++) {
        sw_work_t *w = s.work[i];
        if (w && w->active &&
            (rc == MPI_SUCCESS || requests[i] == MPI_REQUEST_NULL))
            ended(&s, i, told ? &its[i] : NULL,
                  !w->wild && !w->cancelled);
    }
    free(room);
    give_back(&s);
    return rc;
}

/* The engine's choice ------------------------------------------------------ */

/* Ask about all of the set that are under way and not done. */
static bool ask(set_t *s, sw_select_t what, sw_vanswer_t *answer)
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
    return sw_virtual_ask(&(sw_vop_t){.kind = SW_OP_SELECT,
                                     .what = (uint8_t)what}, answer);
}

/* The same, where the answer may be no, and may still be. */
static bool ask_again(set_t *s, sw_select_t what, sw_vanswer_t *answer)
{
    uint64_t key = (uint64_t)what + 2;
    for (int i = 0; i < s->n; i++)
        if (s->work[i] && s->work[i]->active && !s->work[i]->done)
            key = sw_board_key(key, s->work[i]->op.request);
    key |= 1;
    *answer = (sw_vanswer_t){.found = false};
    if (sw_virtual_still_not(key))
        return true;
    if (!ask(s, what, answer))
        return false;
    if (!answer->found)
        sw_virtual_found_nothing(key, answer);
    return true;
}

/* Is it for the host to decide? */
static bool hosts(const set_t *s)
{
    return sw_virtual_shared || s->strangers || !s->active ||
           !atomic_load(&sw_virtual_alive);
}

/* Tries that the host has to complete what is complete in virtual time. Where
 * receives with wildcards have met other messages in the host, that may take
 * until the program has gone on. */
#define TRIES 200

/* The engine has said so: it is not asked again. */
static void mark(sw_work_t *w)
{
    for (uint32_t k = 0; !w->done && k < w->other_count; k++)
        sw_virtual_tell(SW_OP_WAIT, w->others[k]);
    w->done = true;
}

/* Request i is complete in virtual time: really, too? */
static bool come(set_t *s, int i, MPI_Status *status, int *rc)
{
    sw_virtual_nap_t nap = {0};
    int flag = 0;
    mark(s->work[i]);
    *rc = served.Test(&s->requests[i], &flag, status);
    for (int k = 0; k < TRIES && !flag && *rc == MPI_SUCCESS; k++) {
        sw_virtual_nap(&nap);
        *rc = served.Test(&s->requests[i], &flag, status);
    }
    if (flag || s->requests[i] == MPI_REQUEST_NULL)
        ended(s, i, status, true);
    return flag || *rc != MPI_SUCCESS;
}

/* One that was complete in virtual time before, and now really; -1: none. */
static int come_late(set_t *s, MPI_Status *status, int *rc)
{
    for (int i = 0; s->done && i < s->n; i++) {
        int flag = 0;
        if (!s->work[i] || !s->work[i]->active || !s->work[i]->done)
            continue;
        *rc = served.Test(&s->requests[i], &flag, status);
        if (!flag && *rc == MPI_SUCCESS)
            continue;
        if (flag || s->requests[i] == MPI_REQUEST_NULL)
            ended(s, i, status, true);
        return i;
    }
    return -1;
}

/* Persistent sends whose data have gone from aside. The host takes no notice of
 * them where one of several is to be completed, so it must not be asked while
 * there is one: that one is complete. -1: none, from `i` on. */
static int next_idle(const set_t *s, int i)
{
    for (; i < s->n; i++)
        if (s->work[i] && s->work[i]->active && s->work[i]->idle)
            return i;
    return -1;
}

static int complete_idle(set_t *s, int i, MPI_Status *status)
{
    int flag = 0, rc = served.Test(&s->requests[i], &flag, status);
    ended(s, i, status, false);
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
                MPI_SUCCESS || flag)
            return rc;
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
                MPI_SUCCESS || *count)
            return rc;
}

/* What the host has completed by its own choice. */
static void host_completed(set_t *s, int i, const MPI_Status *status)
{
    if (i != MPI_UNDEFINED && i >= 0 && i < s->n)
        ended(s, i, status, false);
}

int sw_virtual_waitany(int n, MPI_Request *requests, int *index,
                       MPI_Status *status)
{
    set_t s;
    sw_vanswer_t answer;
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    if (n <= 0 || !requests || !take(&s, n, requests))
        return served.Waitany(n, requests, index, status);
    int rc = MPI_SUCCESS, found = -1, late = -1;
    if (!hosts(&s)) {
        late = come_late(&s, its, &rc);
        if (late < 0 && s.active > s.done &&
            ask(&s, SW_SELECT_ANY, &answer) && answer.count)
            found = s.listed[answer.which[0]];
    }
    if (late >= 0) {
        *index = late;
    } else if (found >= 0 && come(&s, found, its, &rc)) {
        *index = found;
    } else {
        int idle = next_idle(&s, 0);
        rc = idle >= 0 ? complete_idle(&s, *index = idle, its)
                       : wait_any(n, requests, index, its);
        if (rc == MPI_SUCCESS && idle < 0)
            host_completed(&s, *index, its);
    }
    give_back(&s);
    return rc;
}

static int by_place(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Those in `indices` are complete in virtual time: really, too, and as the
 * host's Testsome does it, which sets the count. */
static int complete_some(set_t *s, int *count_to, int *indices,
                         MPI_Status *statuses)
{
    int count = *count_to, flag = 0;
    sw_virtual_nap_t nap = {0};
    void *room;
    bool ignored = statuses == MPI_STATUSES_IGNORE;
    qsort(indices, (size_t)count, sizeof *indices, by_place);
    MPI_Request *these = malloc((size_t)count * sizeof *these);
    MPI_Status *its = statuses_for(count, statuses, ignored, &room);
    if (!these || !its) {
        free(these);
        free(room);
        sw_say("out of memory in MPI_Waitsome");
        abort();
    }
    int *places = malloc((size_t)count * 2 * sizeof *places);
    if (!places) {
        sw_say("out of memory in MPI_Waitsome");
        abort();
    }
    int *told = places + count;
    for (int k = 0; k < count; k++) {
        places[k] = indices[k];
        mark(s->work[places[k]]);
        these[k] = s->requests[places[k]];
    }
    int rc = served.Testall(count, these, &flag, its);
    for (int k = 0; k < TRIES && !flag && rc == MPI_SUCCESS; k++) {
        sw_virtual_nap(&nap);
        rc = served.Testall(count, these, &flag, its);
    }
    *count_to = count;
    for (int k = 0; k < count; k++)
        told[k] = k;
    if (!flag && rc == MPI_SUCCESS)
        rc = served.Testsome(count, these, count_to, told, its);
    for (int k = 0; k < count; k++)
        s->requests[places[k]] = these[k];
    if (*count_to == MPI_UNDEFINED)
        *count_to = 0;
    for (int k = 0; k < *count_to; k++) {
        indices[k] = places[told[k]];
        if (rc == MPI_SUCCESS || s->requests[indices[k]] == MPI_REQUEST_NULL)
            ended(s, indices[k], &its[k], true);
    }
    free(places);
    free(these);
    free(room);
    return rc;
}

/* Those that were complete in virtual time before, if some are now really; else
 * those of an answer. How many; -1: there is no engine. */
static int chosen(set_t *s, sw_select_t what, int *indices)
{
    sw_vanswer_t answer = {.found = false};
    int count = 0;
    for (int i = 0; s->done && i < s->n; i++) {
        int flag = 0;
        if (s->work[i] && s->work[i]->active && s->work[i]->done &&
            served.Request_get_status(s->requests[i], &flag,
                                      MPI_STATUS_IGNORE) == MPI_SUCCESS &&
            flag)
            indices[count++] = i;
    }
    if (count || s->active == s->done)
        return count;
    if (!(what == SW_TEST_SOME ? ask_again(s, what, &answer)
                               : ask(s, what, &answer)))
        return -1;
    for (uint32_t k = 0; k < answer.count; k++)
        indices[count++] = s->listed[answer.which[k]];
    return count;
}

static int some_by_host(set_t *s, bool waits, int *count, int *indices,
                        MPI_Status *statuses)
{
    void *room;
    bool ignored = statuses == MPI_STATUSES_IGNORE;
    MPI_Status *its = statuses_for(s->n, statuses, ignored, &room);
    if (!its)
        its = statuses;
    int rc = MPI_SUCCESS, idle = next_idle(s, 0);
    if (idle >= 0) {
        for (*count = 0; idle >= 0; idle = next_idle(s, idle + 1)) {
            indices[*count] = idle;
            rc = complete_idle(s, idle, ignored ? MPI_STATUS_IGNORE
                                                : &statuses[*count]);
            ++*count;
        }
        free(room);
        return rc;
    }
    rc = waits ? wait_some(s->n, s->requests, count, indices, its)
               : served.Testsome(s->n, s->requests, count, indices, its);
    if (rc == MPI_SUCCESS && *count != MPI_UNDEFINED)
        for (int k = 0; k < *count; k++)
            host_completed(s, indices[k], &its[k]);
    if (!waits && rc == MPI_SUCCESS && *count == 0)
        sw_virtual_poll();
    free(room);
    return rc;
}

int sw_virtual_waitsome(int n, MPI_Request *requests, int *count, int *indices,
                        MPI_Status *statuses)
{
    set_t s;
    int rc, some = 0;
    if (n <= 0 || !requests || !take(&s, n, requests))
        return served.Waitsome(n, requests, count, indices, statuses);
    if (!hosts(&s))
        some = chosen(&s, SW_SELECT_SOME, indices);
    *count = some > 0 ? some : 0;
    rc = some > 0 ? complete_some(&s, count, indices, statuses) : MPI_SUCCESS;
    if (!*count && rc == MPI_SUCCESS)
        rc = some_by_host(&s, true, count, indices, statuses);
    give_back(&s);
    return rc;
}

/* Tests ------------------------------------------------------------------- */

int sw_virtual_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    set_t s;
    sw_vanswer_t answer;
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    if (!request || *request == MPI_REQUEST_NULL || !take(&s, 1, request))
        return served.Test(request, flag, status);
    int rc = MPI_SUCCESS;
    if (!hosts(&s) && s.done) {
        *flag = come_late(&s, its, &rc) == 0;
        if (!*flag && rc == MPI_SUCCESS)
            sw_virtual_poll();
    } else if (!hosts(&s) && ask_again(&s, SW_TEST_ALL, &answer)) {
        *flag = answer.found && come(&s, 0, its, &rc);
        if (!answer.found)
            sw_virtual_idle();
    } else {
        rc = served.Test(request, flag, its);
        if (rc == MPI_SUCCESS && *flag)
            host_completed(&s, 0, its);
        else if (rc == MPI_SUCCESS)
            sw_virtual_poll();
    }
    give_back(&s);
    return rc;
}

static int all_by_host(set_t *s, int *flag, MPI_Status *statuses)
{
    void *room = NULL;
    bool own = statuses == MPI_STATUSES_IGNORE && looks(s);
    MPI_Status *its = statuses_for(s->n, statuses, own, &room);
    if (own && !its)
        its = statuses;
    int rc = served.Testall(s->n, s->requests, flag, its);
    if (rc == MPI_SUCCESS && *flag)
        for (int i = 0; i < s->n; i++)
            host_completed(s, i, its == MPI_STATUSES_IGNORE ? NULL : &its[i]);
    if (rc == MPI_SUCCESS && !*flag)
        sw_virtual_poll();
    free(room);
    return rc;
}

int sw_virtual_testall(int n, MPI_Request *requests, int *flag,
                       MPI_Status *statuses)
{
    set_t s;
    sw_vanswer_t answer;
    void *room = NULL;
    if (n <= 0 || !requests || !take(&s, n, requests))
        return served.Testall(n, requests, flag, statuses);
    int rc = MPI_SUCCESS;
    if (hosts(&s)) {
        rc = all_by_host(&s, flag, statuses);
    } else if (s.active > s.done && !ask_again(&s, SW_TEST_ALL, &answer)) {
        rc = all_by_host(&s, flag, statuses);
    } else if (s.active > s.done && !answer.found) {
        *flag = 0;
        sw_virtual_idle();
    } else {
        bool own = statuses == MPI_STATUSES_IGNORE && looks(&s);
        MPI_Status *its = statuses_for(n, statuses, own, &room);
        if (own && !its)
            its = statuses;
        sw_virtual_nap_t nap = {0};
        for (int i = 0; i < n; i++)
            if (s.work[i] && s.work[i]->active)
                mark(s.work[i]);
        rc = served.Testall(n, requests, flag, its);
        for (int k = 0; k < TRIES && !*flag && rc == MPI_SUCCESS; k++) {
            sw_virtual_nap(&nap);
            rc = served.Testall(n, requests, flag, its);
        }
        if (!*flag && rc == MPI_SUCCESS)
            sw_virtual_poll();
        for (int i = 0; i < n && (*flag || rc != MPI_SUCCESS); i++)
            if (rc == MPI_SUCCESS || requests[i] == MPI_REQUEST_NULL)
                ended(&s, i, its == MPI_STATUSES_IGNORE ? NULL : &its[i],
                      true);
        free(room);
    }
    give_back(&s);
    return rc;
}

int sw_virtual_testany(int n, MPI_Request *requests, int *index, int *flag,
                       MPI_Status *status)
{
    set_t s;
    sw_vanswer_t answer = {.found = false};
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    if (n <= 0 || !requests || !take(&s, n, requests))
        return served.Testany(n, requests, index, flag, status);
    int rc = MPI_SUCCESS;
    int late = hosts(&s) ? -1 : come_late(&s, its, &rc);
    if (late >= 0) {
        *flag = 1;
        *index = late;
    } else if (!hosts(&s) && (s.active == s.done ||
                              ask_again(&s, SW_TEST_ANY, &answer))) {
        int found = answer.found && answer.count ? s.listed[answer.which[0]]
                                                 : -1;
        *flag = found >= 0 && come(&s, found, its, &rc);
        *index = *flag ? found : MPI_UNDEFINED;
        if (found < 0 && s.active == s.done)
            sw_virtual_poll();
        else if (found < 0)
            sw_virtual_idle();
    } else {
        int idle = next_idle(&s, 0);
        if (idle >= 0) {
            rc = complete_idle(&s, *index = idle, its);
            *flag = 1;
        } else {
            rc = served.Testany(n, requests, index, flag, its);
        }
        if (rc == MPI_SUCCESS && *flag && idle < 0)
            host_completed(&s, *index, its);
        else if (rc == MPI_SUCCESS)
            sw_virtual_poll();
    }
    give_back(&s);
    return rc;
}

int sw_virtual_testsome(int n, MPI_Request *requests, int *count, int *indices,
                        MPI_Status *statuses)
{
    set_t s;
    if (n <= 0 || !requests || !take(&s, n, requests))
        return served.Testsome(n, requests, count, indices, statuses);
    int rc = MPI_SUCCESS;
    int some = hosts(&s) ? -1 : chosen(&s, SW_TEST_SOME, indices);
    if (some >= 0) {
        *count = some;
        if (some)
            rc = complete_some(&s, count, indices, statuses);
        else if (s.active == s.done)
            sw_virtual_poll();
        else
            sw_virtual_idle();
    } else {
        rc = some_by_host(&s, false, count, indices, statuses);
    }
    give_back(&s);
    return rc;
}

/* The request stays, and the engine has nothing more to say of it. */
int sw_virtual_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    set_t s;
    sw_vanswer_t answer;
    if (request == MPI_REQUEST_NULL || !take(&s, 1, &request))
        return served.Request_get_status(request, flag, status);
    int rc = MPI_SUCCESS;
    sw_work_t *w = s.work[0];
    if (hosts(&s) || s.done || !ask_again(&s, SW_TEST_ALL, &answer)) {
        rc = served.Request_get_status(request, flag, status);
        if (rc == MPI_SUCCESS && !*flag)
            sw_virtual_poll();
    } else if (!answer.found) {
        *flag = 0;
        sw_virtual_idle();
    } else {
        for (uint32_t k = 0; k < w->other_count; k++)
            sw_virtual_tell(SW_OP_WAIT, w->others[k]);
        w->done = true;
        /* The host may not be so far yet. */
        rc = served.Request_get_status(request, flag, status);
    }
    give_back(&s);
    return rc;
}

/* Persistent ones, and ends ------------------------------------------------- */

/* Start the host's request, unless its data may be sent from aside: then it
 * stays as it is, and the host takes it for complete. */
static int start_one(MPI_Request *request, bool *idle)
{
    sw_virtual_lock();
    sw_work_t *w = sw_work_take((uintptr_t)*request);
    sw_work_back(w);
    sw_virtual_unlock();
    if (w && w->from.comm != MPI_COMM_NULL &&
        sw_virtual_detach(w->from.buffer, w->from.count, w->from.type,
                          w->from.dest, w->from.tag, w->from.comm,
                          w->from.flags)) {
        *idle = true;
        return MPI_SUCCESS;
    }
    return served.Start(request);
}

/* Open MPI may give another handle for a request that is started again. */
static void started(MPI_Request was, MPI_Request request, bool idle)
{
    sw_virtual_lock();
    sw_work_t *w = sw_work_take((uintptr_t)was);
    if (w) {
        sw_work_rename(w, (uintptr_t)request);
        w->active = true;
        w->idle = idle;
        w->done = !w->op.kind && !w->part_count;
        if (w->op.kind)
            sw_virtual_put(&w->op);
        for (uint32_t k = 0; k < w->part_count; k++)
            sw_virtual_put(&w->parts[k]);
        sw_work_back(w);
    }
    sw_virtual_unlock();
}

int sw_virtual_start_all(int n, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;
    if (n <= 0 || !requests)
        return served.Startall(n, requests);
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
        MPI_Request was = requests[i];
        bool idle = false;
        rc = start_one(&requests[i], &idle);
        if (rc == MPI_SUCCESS)
            started(was, requests[i], idle);
    }
    return rc;
}

void sw_virtual_freed(MPI_Request request)
{
    sw_virtual_lock();
    sw_work_t *w = request == MPI_REQUEST_NULL
                       ? NULL : sw_work_take((uintptr_t)request);
    if (w) {
        if (w->active && !w->done) {
            sw_virtual_tell(SW_OP_DROP, w->op.request);
            for (uint32_t i = 0; i < w->other_count; i++)
                sw_virtual_tell(SW_OP_DROP, w->others[i]);
        }
        sw_work_end(w);
    }
    sw_virtual_unlock();
}

/* Where the host knows at once that it is gone, so does the engine: the program
 * may wait for others first, who need the message that it would take. */
void sw_virtual_cancelled(MPI_Request request)
{
    int flag = 0, gone = 0;
    MPI_Status status;
    sw_virtual_lock();
    sw_work_t *w = request == MPI_REQUEST_NULL
                       ? NULL : sw_work_take((uintptr_t)request);
    if (w) {
        /* Persistent ones are not asked: see sw_work_tell_matched. */
        if (!w->persistent &&
            served.Request_get_status(request, &flag, &status) ==
                MPI_SUCCESS && flag)
            host.Test_cancelled(&status, &gone);
        w->cancelled = true;
        if (gone && w->active && !w->done) {
            cancel(w);
            w->done = true;
        }
        sw_work_back(w);
    }
    sw_virtual_unlock();
}
