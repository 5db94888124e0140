/*
 * messages.c - point to point; see virtual.h.
 *
 * The rank first gives each message to the host, in its nonblocking form, which
 * finds errors. Then it puts the operation, and waits if the call does.
 */
#include "gives.h"
#include "mpi/base/status.h"
#include "virtual.h"

#include <limits.h>
#include <stdlib.h>

bool sw_virtual_message(sw_vop_t *op, sw_op_kind_t kind, MPI_Comm comm,
                        int member, int tag, int64_t count, MPI_Datatype type,
                        sw_known_comm_t **to)
{
    if (member == MPI_PROC_NULL)
        return false;
    sw_known_comm_t *c = *to = sw_virtual_comm(comm);
    int64_t rank = member == MPI_ANY_SOURCE ? SW_OP_ANY
                                            : sw_known_rank(c, member);
    if (!c || (rank < 0 && member != MPI_ANY_SOURCE)) {
        sw_virtual_unmodelled();
        return false;
    }
    *op = (sw_vop_t){
        .kind = (uint8_t)kind,
        .context = (uint32_t)c->context,
        .peer = (int32_t)rank,
        .tag = tag == MPI_ANY_TAG ? SW_OP_ANY : tag,
        .bytes = count > 0 ? (uint64_t)count * sw_known_type(type)->size : 0};
    return true;
}

static bool wild(const sw_vop_t *op)
{
    return op->peer == SW_OP_ANY || op->tag == SW_OP_ANY;
}

/* Which message the receive with wildcards has got. */
static void tell_match(const sw_known_comm_t *c, uint32_t request,
                       const MPI_Status *status)
{
    int64_t from = sw_known_rank(c, status->MPI_SOURCE);
    if (from < 0) /* the status does not tell */
        sw_virtual_tell(SW_OP_DROP, request);
    else
        sw_virtual_put(&(sw_vop_t){.kind = SW_OP_MATCHED,
                                   .request = request,
                                   .peer = (int32_t)from,
                                   .tag = status->MPI_TAG});
}

/* Where threads call at once: a receive that the host matches. */
static int receive_any(sw_known_comm_t *c, sw_vop_t *op, MPI_Request *own,
                       MPI_Status *status)
{
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    sw_virtual_lock();
    op->request = sw_work_number();
    sw_virtual_put(op);
    sw_virtual_tell(SW_OP_WAIT, op->request);
    sw_virtual_unlock();
    int rc = sw_virtual_finish(own, its, false);
    sw_virtual_lock();
    tell_match(c, op->request, its);
    sw_work_number_free(op->request);
    sw_virtual_unlock();
    return rc;
}

int sw_virtual_sent(MPI_Comm comm, int dest, int tag, int64_t count,
                    MPI_Datatype type, unsigned flags, MPI_Request *own)
{
    sw_vop_t op;
    sw_known_comm_t *c;
    if (!sw_virtual_message(&op, SW_OP_SEND, comm, dest, tag, count, type, &c))
        return sw_virtual_finish(own, MPI_STATUS_IGNORE, false);
    op.flags = (uint16_t)flags;
    sw_virtual_put(&op);
    return sw_virtual_finish(own, MPI_STATUS_IGNORE, true);
}

/* A request of no interest is known all the same, as one that is done: so it
 * does not leave the others beside it to the host. */
void sw_virtual_nothing(MPI_Request request, bool persistent)
{
    sw_work_t *w;
    if (request == MPI_REQUEST_NULL)
        return;
    sw_virtual_lock();
    if ((w = sw_work_new(NULL, &(sw_vop_t){.kind = 0}))) {
        w->active = w->done = !persistent;
        w->persistent = persistent;
        sw_work_add(w, (uintptr_t)request);
    }
    sw_virtual_unlock();
}

sw_work_t *sw_virtual_begun(sw_known_comm_t *c, const sw_vop_t *op,
                            MPI_Request request, bool persistent)
{
    sw_virtual_lock();
    sw_work_t *w = sw_work_new(c, op);
    if (w) {
        if (op->kind == SW_OP_RECV && wild(op))
            sw_work_wild(w);
        w->persistent = persistent;
        w->active = !persistent;
        sw_work_add(w, (uintptr_t)request);
        if (!persistent)
            sw_virtual_put(&w->op);
    }
    sw_virtual_unlock();
    return w;
}

void sw_virtual_isent(MPI_Comm comm, int dest, int tag, int64_t count,
                      MPI_Datatype type, unsigned flags, MPI_Request request,
                      bool persistent)
{
    sw_vop_t op;
    sw_known_comm_t *c;
    if (sw_virtual_message(&op, SW_OP_SEND, comm, dest, tag, count, type, &c)) {
        op.flags = (uint16_t)flags;
        if (sw_virtual_gives(op.bytes, dest, tag))
            op.flags |= SW_SEND_GIVEN;
        sw_virtual_begun(c, &op, request, persistent);
    } else if (dest == MPI_PROC_NULL) {
        sw_virtual_nothing(request, persistent);
    }
}

void sw_virtual_choose(MPI_Comm comm, int *source, int *tag)
{
    sw_vop_t op;
    sw_op_answer_t answer;
    sw_known_comm_t *c;
    if (sw_virtual_shared ||
        (*source != MPI_ANY_SOURCE && *tag != MPI_ANY_TAG) ||
        !sw_virtual_message(&op, SW_OP_CHOOSE, comm, *source, *tag, 0, MPI_BYTE,
                            &c) ||
        !sw_virtual_ask(&op, &answer))
        return;
    int member = sw_virtual_member(c, answer.peer);
    MPI_Status status;
    sw_virtual_name_t it = {member, answer.tag, *source, *tag, true};
    if (member >= 0 &&
        sw_virtual_look(&it, comm, NULL, &status) == MPI_SUCCESS) {
        *source = status.MPI_SOURCE;
        *tag = status.MPI_TAG;
    }
}

/* MPICH 4.0's MPI_Irecv leaves the status of a receive from MPI_PROC_NULL as it
 * was (MPI 4.1, 3.10: source and tag are MPI_PROC_NULL and MPI_ANY_TAG). */
static int ended(int rc, int source, MPI_Status *status)
{
    if (rc == MPI_SUCCESS && source == MPI_PROC_NULL &&
        status != MPI_STATUS_IGNORE) {
        sw_status_empty(status);
        status->MPI_SOURCE = MPI_PROC_NULL;
    }
    return rc;
}

int sw_virtual_received(MPI_Comm comm, int source, int tag, int64_t count,
                        MPI_Datatype type, MPI_Request *own, MPI_Status *status)
{
    sw_vop_t op;
    sw_known_comm_t *c;
    if (!sw_virtual_message(&op, SW_OP_RECV, comm, source, tag, count, type,
                            &c))
        return ended(sw_virtual_finish(own, status, false), source, status);
    if (sw_virtual_shared && wild(&op))
        return receive_any(c, &op, own, status);
    sw_virtual_put(&op);
    return sw_virtual_finish(own, status, true);
}

void sw_virtual_posted(MPI_Comm comm, int source, int tag, int64_t count,
                       MPI_Datatype type, MPI_Request request, bool persistent)
{
    sw_vop_t op;
    sw_known_comm_t *c;
    if (sw_virtual_message(&op, SW_OP_RECV, comm, source, tag, count, type, &c))
        sw_virtual_begun(c, &op, request, persistent);
    else if (source == MPI_PROC_NULL)
        sw_virtual_nothing(request, persistent);
}

uint32_t sw_virtual_sending(MPI_Comm comm, int dest, int tag, int64_t count,
                            MPI_Datatype type)
{
    sw_vop_t op;
    sw_known_comm_t *c;
    if (!sw_virtual_message(&op, SW_OP_SEND, comm, dest, tag, count, type, &c))
        return 0;
    sw_virtual_lock();
    op.request = sw_work_number();
    sw_virtual_put(&op);
    sw_virtual_unlock();
    return op.request;
}

static void sending_is_over(uint32_t sent)
{
    sw_virtual_lock();
    if (sent) {
        sw_virtual_tell(SW_OP_WAIT, sent);
        sw_work_number_free(sent);
    }
    sw_virtual_unlock();
}

int sw_virtual_sendrecv(MPI_Comm comm, int source, int tag, int64_t count,
                        MPI_Datatype type, uint32_t sent, MPI_Request own[2],
                        MPI_Status *status)
{
    int rc;
    if (sw_virtual_shared && (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)) {
        rc = sw_virtual_received(comm, source, tag, count, type, &own[1],
                                 status);
        int rc_send = sw_virtual_finish(&own[0], MPI_STATUS_IGNORE, false);
        sending_is_over(sent);
        return rc != MPI_SUCCESS ? rc : rc_send;
    }
    sw_vop_t op;
    sw_known_comm_t *c;
    if (sw_virtual_message(&op, SW_OP_RECV, comm, source, tag, count, type, &c))
        sw_virtual_put(&op);
    sending_is_over(sent);
    rc = ended(sw_virtual_finish(&own[1], status, true), source, status);
    int rc_send = sw_virtual_finish(&own[0], MPI_STATUS_IGNORE, true);
    return rc != MPI_SUCCESS ? rc : rc_send;
}

/* The data to send are packed away, so that the call can be two nonblocking
 * ones: a rank that waits in it has given what others wait for. */
static int send_away(void **packed, const void *buffer, int64_t count,
                     MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                     MPI_Request *own)
{
    int size = 0, place = 0, rc;
    *packed = NULL;
    *own = MPI_REQUEST_NULL;
    if (sw_virtual_detach(buffer, count, type, dest, tag, comm, 0))
        return MPI_SUCCESS;
    rc = host.Pack_size((int)count, type, comm, &size);
    if (rc != MPI_SUCCESS)
        return rc;
    *packed = malloc((size_t)size + 1);
    if (!*packed)
        return MPI_ERR_NO_MEM;
    rc = host.Pack(buffer, (int)count, type, *packed, size, &place, comm);
    return rc != MPI_SUCCESS
               ? rc
               : served.Isend(*packed, place, MPI_PACKED, dest, tag, comm, own);
}

int sw_virtual_sendrecv_replace(void *buffer, int64_t count, MPI_Datatype type,
                                int dest, int sendtag, int source, int recvtag,
                                MPI_Comm comm, MPI_Status *status)
{
    void *packed;
    MPI_Request own[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (count < 0 || count > INT_MAX) {
        sw_virtual_unmodelled();
        return served.Sendrecv_replace(buffer, (int)count, type, dest, sendtag,
                                       source, recvtag, comm, status);
    }
    int rc = send_away(&packed, buffer, count, type, dest, sendtag, comm,
                       &own[0]);
    if (rc == MPI_SUCCESS) {
        uint32_t sent = sw_virtual_sending(comm, dest, sendtag, count, type);
        sw_virtual_choose(comm, &source, &recvtag);
        rc = served.Irecv(buffer, (int)count, type, source, recvtag, comm,
                          &own[1]);
        if (rc == MPI_SUCCESS)
            rc = sw_virtual_sendrecv(comm, source, recvtag, count, type, sent,
                                     own, status);
    }
    free(packed);
    return rc;
}

void sw_virtual_isendrecv(MPI_Comm comm, int dest, int sendtag,
                          int64_t sendcount, MPI_Datatype sendtype, int source,
                          int recvtag, int64_t recvcount, MPI_Datatype recvtype,
                          MPI_Request request)
{
    uint32_t sent = sw_virtual_sending(comm, dest, sendtag, sendcount,
                                       sendtype);
    sw_vop_t op;
    sw_known_comm_t *c = NULL;
    bool receives = sw_virtual_message(&op, SW_OP_RECV, comm, source, recvtag,
                                       recvcount, recvtype, &c);
    if (!receives && !sent) {
        sw_virtual_nothing(request, false);
        return;
    }
    if (!receives)
        op = (sw_vop_t){.request = sent};
    sw_virtual_lock();
    sw_work_t *w = sw_work_new(c, &op);
    if (w) {
        w->active = true;
        if (receives && wild(&op))
            sw_work_wild(w);
        sw_work_add(w, (uintptr_t)request);
        if (receives)
            sw_virtual_put(&w->op);
        if (receives && sent && (w->others = malloc(sizeof *w->others))) {
            w->others[0] = sent;
            w->other_count = 1;
        }
    }
    sw_virtual_unlock();
}

/* As whole messages, from start to end; matched apart from others. */
void sw_virtual_partitioned(bool sends, MPI_Comm comm, int peer, int tag,
                            int64_t count, MPI_Datatype type,
                            MPI_Request request)
{
    sw_vop_t op;
    sw_known_comm_t *c;
    if (!sw_virtual_message(&op, sends ? SW_OP_SEND : SW_OP_RECV, comm, peer,
                            tag, count, type, &c))
        return;
    sw_virtual_lock();
    op.context = sw_virtual_aside(c);
    sw_virtual_unlock();
    sw_work_t *w = sw_virtual_begun(c, &op, request, true);
    if (w)
        w->apart = true;
}
