/*
 * wait.c - MPI_Wait and MPI_Test, MPI_Request_free and MPI_Cancel.
 */
#include "complete.h"

MPI_Request sw_request_done = MPI_REQUEST_NULL;

/* Ask for a request by its shadow, which is held; true: it is done, with *rc.
 * Of one that is inactive the host says so. */
static bool try(sw_shadow_t *s, MPI_Request *request, MPI_Status *status,
                int *rc)
{
    MPI_Request asked = *request;
    int flag = 1;
    if (!sw_shadow_ready(s)) {
        sw_shadow_poke(s->kind->over);
        return false;
    }
    if (!s->active) {
        *rc = host.Test(&asked, &flag, status);
        return flag || *rc != MPI_SUCCESS;
    }
    bool over = !s->persistent;
    sw_status_empty(status);
    *rc = s->result;
    sw_shadow_conclude(s, status, 0, rc);
    if (over)
        *request = MPI_REQUEST_NULL;
    return true;
}

/* One without a shadow. */
static int plain_wait(MPI_Request *request, MPI_Status *status)
{
    return sw_shadow_owing() ? sw_patient_Wait(request, status)
                             : host.Wait(request, status);
}

static bool once(sw_shadow_t *s, MPI_Request *request, MPI_Status *status,
                 int *rc)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    bool stays = s->persistent || !s->active;
    sw_shadow_hold(s);
    bool over = try(s, request, to, rc);
    if (!over || stays)
        sw_shadow_let_go(s);
    return over;
}

int sw_wait_one(MPI_Request *request, MPI_Status *status)
{
    sw_shadow_t *s = sw_shadow_of(*request);
    if (!s)
        return plain_wait(request, status);
    bool stays = s->persistent;
    int rc = MPI_SUCCESS;
    sw_idle_t idle = {0};
    sw_shadow_claim(s);
    if (s->active && s->kind->await)
        s->kind->await(s);
    while (!once(s, request, status, &rc)) {
        sw_shadow_progress();
        sw_idle(&idle, sw_shadow_bell(s));
    }
    sw_idle_end(&idle);
    if (stays)
        sw_shadow_unclaim(s);
    return rc;
}

int sw_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return sw_any_shadows() && request ? sw_wait_one(request, status)
                                       : plain_wait(request, status);
}

int sw_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!sw_any_shadows() || !request)
        return host.Test(request, flag, status);
    if (sw_shadow_owing())
        sw_shadow_progress();
    sw_shadow_t *s = sw_shadow_of(*request);
    if (!s)
        return host.Test(request, flag, status);
    bool stays = s->persistent;
    int rc = MPI_SUCCESS;
    sw_shadow_claim(s);
    *flag = once(s, request, status, &rc);
    if (!*flag || stays)
        sw_shadow_unclaim(s);
    return rc;
}

int sw_MPI_Request_free(MPI_Request *request)
{
    sw_shadow_t *s = request ? sw_shadow_of(*request) : NULL;
    if (!s)
        return host.Request_free(request);
    sw_shadow_hold(s);
    s->kind->free(s);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int sw_MPI_Cancel(MPI_Request *request)
{
    sw_shadow_t *s = request ? sw_shadow_to_cancel(*request) : NULL;
    return s ? s->kind->cancel(s) : host.Cancel(request);
}
