/*
 * collectives.c - collectives in virtual time; see virtual.h.
 *
 * What a call moves (mpi/calls/moves.h) becomes an operation here. Where the
 * host serves, the wrapper calls its nonblocking form, so that no rank waits
 * inside the host. Where we serve, which is never between groups, our waits are
 * kind to crowded cores: the wrapper calls the blocking form when the members
 * have come.
 */
#include "virtual.h"

#include "node/base/settings.h"

#define HOST_EAGER 2048 /* bytes: no host keeps the sender of less */

/* MPICH and its kin give the wrong members the data of an MPI_Ibcast between
 * groups whose root is not the first of its own. */
#ifdef OMPI_MAJOR_VERSION
#define BCAST_MAY_PEND true
#else
#define BCAST_MAY_PEND false
#endif

bool sw_virtual_apart(MPI_Comm comm, sw_op_collective_t what)
{
    sw_known_comm_t *c = comm == MPI_COMM_NULL ? NULL
                                               : sw_known_comm_meet(comm);
    if (!c || !c->inter)
        return !sw_settings.enable;
    return what != SW_COLLECTIVE_BCAST || BCAST_MAY_PEND;
}

static bool operation(const sw_known_comm_t *c, const sw_moved_t *m,
                      sw_op_collective_t what, int root, sw_vop_t *op)
{
    if (!c) {
        sw_virtual_unmodelled();
        return false;
    }
    *op = (sw_vop_t){.kind = SW_OP_COLLECTIVE,
                     .what = (uint8_t)what,
                     .context = (uint32_t)c->context,
                     .peer = root,
                     .bytes = m->size,
                     .sent = m->sent,
                     .received = m->received};
    if (c->inter && what != SW_COLLECTIVE_OTHER) {
        op->tag = c->second ? c->targets : c->n;
        if (root >= c->targets)
            return false; /* the host will say so */
        if (root >= 0)
            op->peer = root + (c->second ? 0 : c->n);
        else
            op->peer = root == MPI_ROOT ? c->me + (c->second ? c->targets : 0)
                                        : -1;
    } else if (root < -1 || root >= c->n) {
        return false; /* the host will say so */
    }
    return true;
}

void sw_virtual_meet(sw_vop_t *op)
{
    sw_virtual_put(op);
    sw_virtual_pause();
}

/* Where there is a root, the host may keep some ranks longer than virtual time
 * does: the root, and those that give to it or pass on what it sends. */
static void tell_kept(const sw_vop_t *op)
{
    if (op->peer >= 0 && !sw_virtual_shared &&
        op->sent + op->received > HOST_EAGER)
        sw_virtual_put(
            &(sw_vop_t){.kind = SW_OP_STUCK, .flags = SW_STUCK_PERHAPS});
}

void sw_virtual_collective(const sw_known_comm_t *c, const sw_moved_t *moves,
                           sw_op_collective_t what, int root)
{
    sw_vop_t op;
    if (!operation(c, moves, what, root, &op))
        return;
    sw_virtual_meet(&op);
    tell_kept(&op);
}

int sw_virtual_collective_own(const sw_known_comm_t *c, const sw_moved_t *moves,
                              sw_op_collective_t what, int root,
                              MPI_Request *own)
{
    sw_vop_t op;
    if (!operation(c, moves, what, root, &op))
        return sw_virtual_finish(own, MPI_STATUS_IGNORE, false);
    sw_virtual_put(&op);
    tell_kept(&op);
    return sw_virtual_finish(own, MPI_STATUS_IGNORE, true);
}

void sw_virtual_collective_pending(sw_known_comm_t *c, const sw_moved_t *moves,
                                   sw_op_collective_t what, int root,
                                   MPI_Request request, bool persistent)
{
    sw_vop_t op;
    if (!operation(c, moves, what, root, &op))
        return;
    sw_work_t *w = sw_virtual_begun(c, &op, request, persistent);
    if (w)
        w->apart = persistent;
}

void sw_virtual_idup(MPI_Comm parent, MPI_Comm comm, MPI_Request request)
{
    sw_vop_t op;
    sw_known_comm_t *c = sw_virtual_comm(parent);
    uint64_t id = sw_known_comm_promise(parent);
    if (!operation(c, &(sw_moved_t){0}, SW_COLLECTIVE_OTHER, -1, &op))
        return;
    sw_work_t *w = sw_virtual_begun(c, &op, request, false);
    if (!w)
        return;
    w->makes.comm = comm;
    w->makes.parent = parent;
    w->makes.id = id;
}

void sw_virtual_other(MPI_Comm comm)
{
    if (comm != MPI_COMM_NULL)
        sw_virtual_collective(sw_virtual_comm(comm), &(sw_moved_t){0},
                              SW_COLLECTIVE_OTHER, -1);
}
