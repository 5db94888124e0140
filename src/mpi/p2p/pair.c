/*
 * pair.c - see pair.h.
 */
#include "pair.h"

#include "mpi/request/complete.h"
#include "node/base/settings.h"
#include "node/temporary.h"

#include <stdlib.h>

static sw_pair_t *of(sw_shadow_t *s)
{
    return (sw_pair_t *)s;
}

/* Is a half over? An error of it is raised, and kept. */
static bool is_over(sw_shadow_t *s, MPI_Request *half, MPI_Status *status)
{
    int flag = 1;
    if (*half == MPI_REQUEST_NULL)
        return true;
    int rc = sw_MPI_Test(half, &flag, status);
    if (rc == MPI_SUCCESS)
        return flag;
    s->result = s->result ? s->result : rc;
    *half = MPI_REQUEST_NULL;
    return true;
}

static bool ready(sw_shadow_t *s)
{
    sw_pair_t *p = of(s);
    bool received = is_over(s, &p->receive, &p->status);
    bool sent = is_over(s, &p->send, MPI_STATUS_IGNORE);
    return s->ended = received && sent;
}

static sw_doorbell_t *bell(sw_shadow_t *s)
{
    sw_pair_t *p = of(s);
    MPI_Request *half = p->receive != MPI_REQUEST_NULL ? &p->receive : &p->send;
    return sw_shadow_bell(sw_shadow_of(*half));
}

static int peek(sw_shadow_t *s, MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        *status = of(s)->status;
    return MPI_SUCCESS;
}

static int finish(sw_shadow_t *s, MPI_Status *status)
{
    sw_temporary_free(of(s)->block);
    return peek(s, status);
}

static void free_request(sw_shadow_t *s)
{
    of(s)->base.made = false;
    sw_shadow_forget(s);
}

static int cancel(sw_shadow_t *s)
{
    return sw_MPI_Cancel(&of(s)->receive);
}

static void release(sw_shadow_t *s)
{
}

static sw_shadow_t *spare;

const sw_shadow_kind_t sw_pair_kind = {
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
    sw_pair_t *p = (sw_pair_t *)sw_shadow_new(&sw_pair_kind,
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
    sw_shadow_t *s = &p->base.shadow;
    if (rc == MPI_SUCCESS) {
        sw_scheduled_request(&p->base);
        sw_shadow_add(s);
        *request = s->handle;
        return MPI_SUCCESS;
    }
    if (p->receive != MPI_REQUEST_NULL) {
        sw_MPI_Cancel(&p->receive);
        sw_wait_one(&p->receive, MPI_STATUS_IGNORE);
    }
    sw_temporary_free(p->block);
    sw_shadow_forgo(s);
    return rc;
}
