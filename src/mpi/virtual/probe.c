/*
 * probe.c - probes; see virtual.h.
 *
 * The engine says whose message it is, and the host is asked for just that
 * one, which is there or on its way. A matched probe takes its message in
 * virtual time as well: the receive is put at once, and waited for when the
 * program receives it.
 */
#include "virtual.h"

/* With threads, the host decides. */
static bool probe_op(sw_vop_t *op, sw_op_kind_t kind, int source, int tag,
                     MPI_Comm comm, sw_known_comm_t **to)
{
    return !sw_virtual_shared &&
           sw_virtual_message(op, kind, comm, source, tag, 0, MPI_BYTE, to);
}

/* The message that the answer names. */
static void name(const sw_known_comm_t *c, const sw_op_answer_t *answer,
                 sw_virtual_name_t *to)
{
    int member = sw_virtual_member(c, answer->peer);
    if (member < 0)
        return;
    to->named = to->source == MPI_ANY_SOURCE || to->tag == MPI_ANY_TAG;
    to->source = member;
    to->tag = answer->tag;
}

/* Tries that the host has to come up with the very message that the engine has
 * named. An earlier receive with wildcards, which the host has matched in its
 * own way, may have taken it; then any message will do that was asked for. */
#define TRIES 200

static int try(int source, int tag, MPI_Comm comm, int *flag,
               MPI_Message *message, MPI_Status *status)
{
    return message ? served.Improbe(source, tag, comm, flag, message, status)
                   : served.Iprobe(source, tag, comm, flag, status);
}

/* With threads, the host decides; what it has matched is put before anything
 * that another thread takes. */
static int take_in_turn(const sw_virtual_name_t *name, MPI_Comm comm,
                        MPI_Message *message, MPI_Status *status)
{
    sw_virtual_nap_t nap = {0};
    for (;;) {
        int flag = 0;
        sw_virtual_hold();
        int rc = served.Improbe(name->source, name->tag, comm, &flag, message,
                                status);
        if (flag || rc != MPI_SUCCESS)
            return rc;
        sw_virtual_release();
        sw_virtual_in_host();
        sw_virtual_nap_and_tell(&nap);
    }
}

static int look(const sw_virtual_name_t *name, MPI_Comm comm,
                MPI_Message *message, MPI_Status *status)
{
    if (message && sw_virtual_shared)
        return take_in_turn(name, comm, message, status);
    sw_virtual_in_host();
    if (!sw_virtual_naps() && !name->named)
        return message ? served.Mprobe(name->source, name->tag, comm, message,
                                       status)
                       : served.Probe(name->source, name->tag, comm, status);
    sw_virtual_nap_t nap = {0};
    for (int i = 0;; i++) {
        int flag = 0;
        int rc = try(name->source, name->asked_tag, comm, &flag, message,
                     status);
        if (!flag && rc == MPI_SUCCESS && name->named && i > TRIES)
            rc = try(name->asked_source, name->asked_tag, comm, &flag, message,
                     status);
        if (flag || rc != MPI_SUCCESS)
            return rc;
        sw_virtual_nap_and_tell(&nap);
    }
}

/* Finds, of the sender that the engine names, the first message that fits the
 * question. Its tag may differ from the one that the engine has seen: no
 * message overtakes another. The rank then tells the engine why. */
int sw_virtual_look(const sw_virtual_name_t *name, MPI_Comm comm,
                    MPI_Message *message, MPI_Status *status)
{
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    int rc = look(name, comm, message, its);
    if (rc == MPI_SUCCESS && name->named &&
        (its->MPI_SOURCE != name->source || its->MPI_TAG != name->tag))
        sw_work_tell_matched();
    return rc;
}

static uint64_t message_key(MPI_Message message)
{
    return ~(uint64_t)(uintptr_t)message;
}

/* The message is taken. */
static void matched(sw_known_comm_t *c, int source, int tag, uint64_t bytes,
                    MPI_Message message)
{
    sw_vop_t op = {.kind = SW_OP_RECV,
                   .context = (uint32_t)c->context,
                   .peer = (int32_t)sw_known_rank(c, source),
                   .tag = tag,
                   .bytes = bytes};
    sw_virtual_lock();
    sw_work_t *w = op.peer < 0 ? NULL : sw_work_new(c, &op);
    if (w) {
        w->active = true;
        sw_work_add(w, message_key(message));
        sw_virtual_put(&w->op);
    }
    sw_virtual_unlock();
}

/* With threads, the host has decided. */
static void matched_here(MPI_Comm comm, MPI_Message message,
                         const MPI_Status *status)
{
    sw_known_comm_t *c = sw_virtual_comm(comm);
    if (c && message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC)
        matched(c, status->MPI_SOURCE, status->MPI_TAG, sw_moves_come(status),
                message);
}

/* `message`: NULL, or where to put the matched one. */
static int probe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                 MPI_Status *status)
{
    sw_virtual_name_t it = {source, tag, source, tag, false};
    sw_vop_t op;
    sw_op_answer_t answer;
    sw_known_comm_t *c;
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    if (probe_op(&op, SW_OP_PROBE, source, tag, comm, &c) &&
        sw_virtual_ask(&op, &answer))
        name(c, &answer, &it);
    int rc = sw_virtual_look(&it, comm, message, its);
    if (message && rc == MPI_SUCCESS && source != MPI_PROC_NULL)
        matched_here(comm, *message, its);
    return rc;
}

int sw_virtual_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe(source, tag, comm, NULL, status);
}

int sw_virtual_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                      MPI_Status *status)
{
    return probe(source, tag, comm, message, status);
}

/* True: the engine has seen a message, which is named now. */
static bool seen(sw_vop_t *op, sw_virtual_name_t *it, sw_known_comm_t *c)
{
    sw_op_answer_t answer;
    uint64_t key = sw_board_key((uint64_t)op->context << 32 |
                                    (uint32_t)op->peer,
                                (uint32_t)op->tag) |
                   1;
    if (sw_virtual_still_not(key) || !sw_virtual_ask(op, &answer))
        return false;
    if (!answer.found)
        sw_virtual_found_nothing(key, &answer);
    else
        name(c, &answer, it);
    return answer.found;
}

/* The host is asked in any case: it finds errors, and moves messages. */
int sw_virtual_iprobe(int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Status *status)
{
    sw_virtual_name_t it = {source, tag, source, tag, false};
    sw_vop_t op;
    sw_known_comm_t *c;
    if (!probe_op(&op, SW_OP_IPROBE, source, tag, comm, &c)) {
        int rc = served.Iprobe(source, tag, comm, flag, status);
        if (rc == MPI_SUCCESS && !*flag)
            sw_virtual_in_host();
        return rc;
    }
    if (seen(&op, &it, c)) {
        *flag = 1;
        return sw_virtual_look(&it, comm, NULL, status);
    }
    if (!atomic_load(&sw_virtual_alive))
        return served.Iprobe(source, tag, comm, flag, status);
    int rc = served.Iprobe(source, tag, comm, flag, MPI_STATUS_IGNORE);
    *flag = 0;
    sw_virtual_idle();
    return rc;
}

int sw_virtual_improbe(int source, int tag, MPI_Comm comm, int *flag,
                       MPI_Message *message, MPI_Status *status)
{
    sw_virtual_name_t it = {source, tag, source, tag, false};
    sw_vop_t op;
    sw_known_comm_t *c;
    MPI_Status mine, *its = status == MPI_STATUS_IGNORE ? &mine : status;
    if (probe_op(&op, SW_OP_IPROBE, source, tag, comm, &c)) {
        if (!seen(&op, &it, c)) {
            if (atomic_load(&sw_virtual_alive)) {
                int there, rc = served.Iprobe(source, tag, comm, &there,
                                              MPI_STATUS_IGNORE);
                *flag = 0;
                sw_virtual_idle();
                return rc;
            }
            return served.Improbe(source, tag, comm, flag, message, its);
        }
        *flag = 1;
        int rc = sw_virtual_look(&it, comm, message, its);
        if (rc == MPI_SUCCESS)
            matched_here(comm, *message, its);
        return rc;
    }
    sw_virtual_hold();
    int rc = served.Improbe(source, tag, comm, flag, message, its);
    if (rc == MPI_SUCCESS && *flag)
        matched_here(comm, *message, its);
    sw_virtual_release();
    if (rc == MPI_SUCCESS && !*flag)
        sw_virtual_in_host();
    return rc;
}

static sw_work_t *of_message(MPI_Message message)
{
    sw_virtual_lock();
    sw_work_t *w = sw_work_take(message_key(message));
    sw_virtual_unlock();
    return w;
}

int sw_virtual_mreceived(MPI_Message message, MPI_Request *own,
                         MPI_Status *status)
{
    sw_work_t *w = of_message(message);
    sw_virtual_lock();
    if (w) {
        sw_virtual_tell(SW_OP_WAIT, w->op.request);
        sw_work_end(w);
    }
    sw_virtual_unlock();
    return sw_virtual_finish(own, status, true);
}

void sw_virtual_imreceived(MPI_Message message, MPI_Request request)
{
    sw_work_t *w = of_message(message);
    sw_virtual_lock();
    if (w) {
        sw_work_rename(w, (uintptr_t)request);
        sw_work_back(w);
    }
    sw_virtual_unlock();
}
