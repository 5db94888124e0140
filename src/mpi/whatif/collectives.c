/*
 * collectives.c - collectives in virtual time; see virtual.h.
 *
 * What a call moves is what a profile says (../record/collectives.c); here it
 * becomes an operation. Where the host serves, its nonblocking form is taken,
 * so that no rank waits inside the host. Where we serve, our waits are kind to
 * crowded cores, and the blocking form is called when the members have come.
 */
#include "virtual.h"

#include "../../node/settings.h"

/* Where the sums of a profile would go: nobody looks at them, and there are
 * none without a number of ranks (profile/peers.h). */
static sw_recorder_t *nowhere(void)
{
    static _Atomic(sw_recorder_t *) one;
    sw_recorder_t *r = atomic_load(&one);
    if (!r) {
        r = sw_recorder_scratch();
        if (!r) {
            sw_say("out of memory in a collective");
            abort();
        }
        atomic_store(&one, r);
    }
    return r;
}

void sw_virtual_event(sw_event_t *e, MPI_Comm comm)
{
    e->recorder = nowhere();
    e->amount = (sw_amount_t){0};
    e->key.words[0] = e->key.words[1] = e->key.words[2] = 0;
    e->comm = sw_virtual_comm(comm);
    e->stands_for = 0;
    e->partners = 0;
    e->looked = false;
}

bool sw_virtual_apart(MPI_Comm comm)
{
    (void)comm;
    return !sw_settings.enable;
}

static bool operation(sw_event_t *e, sw_vcollective_t what, int root,
                      sw_vop_t *op)
{
    const sw_known_comm_t *c = e->comm;
    if (!c) {
        sw_virtual_unmodelled();
        return false;
    }
    *op = (sw_vop_t){.kind = SW_OP_COLLECTIVE, .what = (uint8_t)what,
                    .context = (uint32_t)c->context, .peer = root,
                    .bytes = e->amount.size, .sent = e->amount.sent,
                    .received = e->amount.received};
    if (c->inter) {
        op->what = SW_COLLECTIVE_OTHER;
        op->peer = -1;
    } else if (root < -1 || root >= c->n) {
        return false;           /* the host will say so */
    }
    return true;
}

void sw_virtual_collective(sw_event_t *e, sw_vcollective_t what, int root)
{
    sw_vop_t op;
    if (!operation(e, what, root, &op))
        return;
    sw_virtual_put(&op);
    sw_virtual_pause();
}

int sw_virtual_collective_own(sw_event_t *e, sw_vcollective_t what, int root,
                              MPI_Request *own)
{
    sw_vop_t op;
    if (!operation(e, what, root, &op))
        return sw_virtual_finish(own, MPI_STATUS_IGNORE, false);
    sw_virtual_put(&op);
    return sw_virtual_finish(own, MPI_STATUS_IGNORE, true);
}

void sw_virtual_collective_pending(sw_event_t *e, sw_vcollective_t what,
                                   int root, MPI_Request request,
                                   bool persistent)
{
    sw_vop_t op;
    if (operation(e, what, root, &op))
        sw_virtual_begun(e->comm, &op, request, persistent);
}

void sw_virtual_other(MPI_Comm comm)
{
    sw_event_t e;
    if (comm == MPI_COMM_NULL)
        return;
    sw_virtual_event(&e, comm);
    sw_virtual_collective(&e, SW_COLLECTIVE_OTHER, -1);
}
