/*
 * pair.c - see pair.h.
 */
#include "pair.h"

#include "mpi/request/complete.h"
#include "node/base/settings.h"
#include "node/temporary.h"

#include <stdlib.h>

static sw_pair_t *of(sw_track_t *t)
{
    return (sw_pair_t *)t;
}

/* Is a half over? An error of it is raised, and kept. */
static bool is_over(sw_track_t *t, MPI_Request *half, MPI_Status *status)
{
    int flag = 1;
    if (*half == MPI_REQUEST_NULL)
        return true;
    int rc = sw_MPI_Test(half, &flag, status);
    if (rc == MPI_SUCCESS)
        return flag;
    t->result = t->result ? t->result : rc;
    *half = MPI_REQUEST_NULL;
    return true;
}

static bool ready(sw_track_t *t)
{
    sw_pair_t *p = of(t);
    bool received = is_over(t, &p->receive, &p->status);
    bool sent = is_over(t, &p->send, MPI_STATUS_IGNORE);
    return t->ended = received && sent;
}

static sw_doorbell_t *bell(sw_track_t *t)
{
    sw_pair_t *p = of(t);
    MPI_Request *half = p->receive != MPI_REQUEST_NULL ? &p->receive
                                                       : &p->send;
    return sw_track_bell(sw_track_of(*half));
}

static int peek(sw_track_t *t, MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        *status = of(t)->status;
    return MPI_SUCCESS;
}

static int finish(sw_track_t *t, MPI_Status *status)
{
    sw_temporary_free(of(t)->block);
    return peek(t, status);
}

static void free_request(sw_track_t *t)
{
    of(t)->base.made = false;
    sw_track_forget(t);
}

static int cancel(sw_track_t *t)
{
    return sw_MPI_Cancel(&of(t)->receive);
}

static void release(sw_track_t *t)
{
}

static sw_track_t *spare;

const sw_track_kind_t sw_pair_kind = {
    .size = sizeof(sw_pair_t),
    .spare = &spare,
    .ready = ready,
    .bell = bell,
    .peek = peek,
    .finish = finish,
    .free = free_request,
    .cancel = cancel,
    .release = release,
};

sw_pair_t *sw_pair_new(MPI_Comm comm, void *block)
{
    sw_pair_t *p = (sw_pair_t *)sw_track_new(&sw_pair_kind,
                                             sw_comm_state(comm));
    if (!p) {
        sw_say("out of memory in MPI_Isendrecv");
        abort();
    }
    p->receive = p->send = MPI_REQUEST_NULL;
    p->block = block;
    sw_status_empty(&p->status);
    return p;
}

int sw_pair_begun(sw_pair_t *p, int rc, MPI_Request *request)
{
    sw_track_t *t = &p->base.track;
    if (rc == MPI_SUCCESS) {
        sw_scheduled_request(&p->base);
        sw_track_add(t);
        *request = t->handle;
        return MPI_SUCCESS;
    }
    if (p->receive != MPI_REQUEST_NULL) {
        sw_MPI_Cancel(&p->receive);
        sw_wait_one(&p->receive, MPI_STATUS_IGNORE);
    }
    sw_temporary_free(p->block);
    sw_track_forgo(t);
    return rc;
}
