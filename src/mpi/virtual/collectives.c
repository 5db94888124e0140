/*
 * collectives.c - collectives in virtual time; see virtual.h.
 *
 * What a call moves is what a profile says (../record/collectives.c); here it
 * becomes an operation. Where the host serves, its nonblocking form is taken,
 * so that no rank waits inside the host. Where we serve, which is never between
 * groups, our waits are kind to crowded cores, and the blocking form is called
 * when the members have come.
 */
#include "virtual.h"

#include "node/base/settings.h"

#define HOST_EAGER 2048     /* bytes: no host keeps the sender of less */

/* Where the sums of a profile would go: nobody looks at them, and there are
 * none without a number of ranks (profile/record/peers.h). */
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

/* MPICH and its kin give the wrong members the data of an MPI_Ibcast between
 * groups whose root is not the first of its own. */
#ifdef OMPI_MAJOR_VERSION
#define BCAST_MAY_PEND true
#else
#define BCAST_MAY_PEND false
#endif

bool sw_virtual_apart(MPI_Comm comm, sw_op_collective_t what)
{
    sw_known_comm_t *c =
        comm == MPI_COMM_NULL ? NULL : sw_known_comm_meet(comm);
    if (!c || !c->inter)
        return !sw_settings.enable;
    return what != SW_COLLECTIVE_BCAST || BCAST_MAY_PEND;
}

static bool operation(sw_event_t *e, sw_op_collective_t what, int root,
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
    if (c->inter && what != SW_COLLECTIVE_OTHER) {
        op->tag = c->second ? c->targets : c->n;
        if (root >= c->targets)
            return false;       /* the host will say so */
        if (root >= 0)
            op->peer = root + (c->second ? 0 : c->n);
        else
            op->peer = root == MPI_ROOT ? c->me + (c->second ? c->targets : 0)
                                        : -1;
    } else if (root < -1 || root >= c->n) {
        return false;           /* the host will say so */
    }
    return true;
}

void sw_virtual_meet(sw_vop_t *op)
{
    sw_virtual_put(op);
    sw_virtual_pause();
}

/* Where there is a root, the host may keep it, and who gives to it or passes on
 * what it sends, longer than virtual time does. */
static void tell_kept(const sw_event_t *e, const sw_vop_t *op)
{
    if (op->peer >= 0 && !sw_virtual_shared &&
        e->amount.sent + e->amount.received > HOST_EAGER)
        sw_virtual_put(&(sw_vop_t){.kind = SW_OP_STUCK,
                                   .flags = SW_STUCK_PERHAPS});
}

void sw_virtual_collective(sw_event_t *e, sw_op_collective_t what, int root)
{
    sw_vop_t op;
    if (!operation(e, what, root, &op))
        return;
    sw_virtual_meet(&op);
    tell_kept(e, &op);
}

int sw_virtual_collective_own(sw_event_t *e, sw_op_collective_t what, int root,
                              MPI_Request *own)
{
    sw_vop_t op;
    if (!operation(e, what, root, &op))
        return sw_virtual_finish(own, MPI_STATUS_IGNORE, false);
    sw_virtual_put(&op);
    tell_kept(e, &op);
    return sw_virtual_finish(own, MPI_STATUS_IGNORE, true);
}

void sw_virtual_collective_pending(sw_event_t *e, sw_op_collective_t what,
                                   int root, MPI_Request request,
                                   bool persistent)
{
    sw_vop_t op;
    if (!operation(e, what, root, &op))
        return;
    sw_work_t *w = sw_virtual_begun(e->comm, &op, request, persistent);
    if (w)
        w->apart = persistent;
}

void sw_virtual_idup(MPI_Comm parent, MPI_Comm comm, MPI_Request request)
{
    sw_event_t e;
    sw_vop_t op;
    sw_virtual_event(&e, parent);
    uint64_t id = sw_known_comm_promise(parent);
    if (!operation(&e, SW_COLLECTIVE_OTHER, -1, &op))
        return;
    sw_work_t *w = sw_virtual_begun(e.comm, &op, request, false);
    if (!w)
        return;
    w->makes.comm = comm;
    w->makes.parent = parent;
    w->makes.id = id;
}

void sw_virtual_other(MPI_Comm comm)
{
    sw_event_t e;
    if (comm == MPI_COMM_NULL)
        return;
    sw_virtual_event(&e, comm);
    sw_virtual_collective(&e, SW_COLLECTIVE_OTHER, -1);
}
