/*
 * wait.c - MPI_Wait and MPI_Test, MPI_Request_free and MPI_Cancel.
 */
#include "complete.h"

MPI_Request sw_request_done = MPI_REQUEST_NULL;

void sw_idle(sw_idle_t *idle, sw_doorbell_t *bell)
{
    sw_wait_t *wait = &idle->wait;
    if (!sw_idle_is_long(idle)) {
        idle->turns++;
        if (sw_wait_crowded())
            sw_os_yield();
        else
            sw_os_pause();
        return;
    }
    if (wait->doorbell != bell) {
        sw_wait_end(wait);
        wait->doorbell = bell;
    }
    sw_wait_step(wait);
}

void sw_idle_end(sw_idle_t *idle)
{
    sw_wait_end(&idle->wait);
}

/* Ask for a tracked request, which is held; true: it is done, with *rc. Of one
 * that is inactive the host says so. */
static bool try(sw_track_t *t, MPI_Request *request, MPI_Status *status,
                int *rc)
{
    MPI_Request asked = *request;
    int flag = 1;
    if (!sw_track_ready(t)) {
        sw_track_poke(t->kind->over);
        return false;
    }
    if (!t->active) {
        *rc = host.Test(&asked, &flag, status);
        return flag || *rc != MPI_SUCCESS;
    }
    bool over = !t->persistent;
    sw_status_empty(status);
    *rc = t->result;
    sw_track_conclude(t, status, 0, rc);
    if (over)
        *request = MPI_REQUEST_NULL;
    return true;
}

/* One that is not tracked, while others may wait for us. */
static int wait_untracked(MPI_Request *request, MPI_Status *status)
{
    int flag = 0, rc;
    sw_idle_t idle = {0};
    while ((rc = host.Test(request, &flag, status)) == MPI_SUCCESS && !flag) {
        sw_track_progress();
        sw_idle(&idle, NULL);
    }
    return rc;
}

static int plain_wait(MPI_Request *request, MPI_Status *status)
{
    return sw_owing() ? wait_untracked(request, status)
                      : host.Wait(request, status);
}

static bool once(sw_track_t *t, MPI_Request *request, MPI_Status *status,
                 int *rc)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    bool stays = t->persistent || !t->active;
    sw_track_hold(t);
    bool over = try(t, request, to, rc);
    if (!over || stays)
        sw_track_let_go(t);
    return over;
}

int sw_wait_one(MPI_Request *request, MPI_Status *status)
{
    sw_track_t *t = sw_track_of(*request);
    if (!t)
        return plain_wait(request, status);
    bool stays = t->persistent;
    int rc = MPI_SUCCESS;
    sw_idle_t idle = {0};
    sw_track_claim(t);
    if (t->active && t->kind->await)
        t->kind->await(t);
    while (!once(t, request, status, &rc)) {
        sw_track_progress();
        sw_idle(&idle, sw_track_bell(t));
    }
    sw_idle_end(&idle);
    if (stays)
        sw_track_unclaim(t);
    return rc;
}

int sw_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return sw_any_tracks() && request
        ? sw_wait_one(request, status)
        : plain_wait(request, status);
}

int sw_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!sw_any_tracks() || !request)
        return host.Test(request, flag, status);
    if (sw_owing())
        sw_track_progress();
    sw_track_t *t = sw_track_of(*request);
    if (!t)
        return host.Test(request, flag, status);
    bool stays = t->persistent;
    int rc = MPI_SUCCESS;
    sw_track_claim(t);
    *flag = once(t, request, status, &rc);
    if (!*flag || stays)
        sw_track_unclaim(t);
    return rc;
}

int sw_MPI_Request_free(MPI_Request *request)
{
    sw_track_t *t = request ? sw_track_of(*request) : NULL;
    if (!t)
        return host.Request_free(request);
    sw_track_hold(t);
    t->kind->free(t);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int sw_MPI_Cancel(MPI_Request *request)
{
    sw_track_t *t = request ? sw_track_to_cancel(*request) : NULL;
    return t ? t->kind->cancel(t) : host.Cancel(request);
}
