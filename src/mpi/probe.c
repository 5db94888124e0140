/*
 * probe.c - MPI_Probe, MPI_Iprobe, MPI_Mprobe, MPI_Improbe: the true length.
 *
 * The host's probe tells of 192 bytes where a descriptor waits. Its slot is
 * found in the sender's table, by the communicator's lineage and the tag: the
 * earliest that nobody has taken, for messages do not overtake each other. So
 * that this is the one the probe saw,
 *   - receives that the host has completed must have taken theirs: progress
 *     is made first;
 *   - messages that are 192 bytes long themselves must have been received as
 *     often as its slot says that they were sent before it (tally.h);
 *   - a matched probe marks the slot, for it takes the message away.
 *
 * With threads the question to the host and the search are one step, between
 * which no receive is posted and no other probe asks (sw_match_enter). So
 * every receive that could have got an earlier message, and is not known to
 * have got it, was posted before; were it still open, it would have got the
 * probed message itself. It has therefore been matched, and is waited for.
 */
#include "complete.h"
#include "receive.h"
#include "route.h"
#include "tally.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct matched {
    MPI_Message message;
    MPI_Comm comm;
    struct matched *next;
} matched_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static matched_t *list;

void sw_matched(MPI_Message message, MPI_Comm comm)
{
    matched_t *m = malloc(sizeof *m);
    if (!m) {
        sw_say("out of memory in a probe");
        abort();
    }
    *m = (matched_t){message, comm, NULL};
    pthread_mutex_lock(&lock);
    m->next = list;
    __atomic_store_n(&list, m, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

MPI_Comm sw_matched_comm(const MPI_Message *message)
{
    MPI_Comm comm = MPI_COMM_NULL;
    if (!__atomic_load_n(&list, __ATOMIC_RELAXED) || !message)
        return comm;
    pthread_mutex_lock(&lock);
    matched_t **link = &list, *m;
    while ((m = *link) && m->message != *message)
        link = &m->next;
    if (m) {
        comm = m->comm;
        *link = m->next;
        free(m);
    }
    pthread_mutex_unlock(&lock);
    return comm;
}

/* Other threads' receives of earlier messages; ends when these threads have
 * been scheduled. The bound is for receives that have got a large message from
 * the host, which may take its time. */
static void await_receives(MPI_Comm comm, int source, int tag)
{
    uint64_t end = 0;
    while (sw_track_expected(comm, source, tag)) {
        uint64_t now = sw_os_now();
        end = end ? end : now + 1000000000ull;
        if (now > end)
            return;
        sw_os_yield();
    }
}

/* Have all messages of the same length been received that went before it?
 * Receives that the host has completed are counted when they are looked at. */
static bool is_next(const sw_slot_t *slot, int sender, MPI_Comm comm,
                    const MPI_Status *status)
{
    for (int look = 0; look < 2; look++) {
        if (slot->behind <= sw_tally_of(&sw_tally_received, slot->lineage,
                                        sender, status->MPI_TAG))
            return true;
        sw_track_expected(comm, status->MPI_SOURCE, status->MPI_TAG);
    }
    return sw_tally_lost;
}

/* Correct the status of a probe; the slot, or NULL. */
static sw_slot_t *correct(MPI_Comm comm, MPI_Status *status)
{
    if (!sw_linked || sw_status_bytes(status) != SW_DESCRIPTOR_BYTES)
        return NULL;
    sw_comm_t *c = sw_comm_state(comm);
    sw_link_t *link = c && c->lineage ? sw_link(c, status->MPI_SOURCE) : NULL;
    if (!link)
        return NULL;
    sw_track_progress();
    if (sw_threaded)
        await_receives(comm, status->MPI_SOURCE, status->MPI_TAG);
    sw_slot_t *slot = sw_slots_find(link->peer, link->directory, c->lineage,
                                    sw_link_place, status->MPI_TAG);
    if (slot && !is_next(slot, link->place, comm, status))
        slot = NULL;
    if (slot)
        sw_status_set_bytes(status, slot->bytes);
    return slot;
}

static void matched(MPI_Comm comm, MPI_Message message, MPI_Status *status)
{
    bool as_long = sw_status_bytes(status) == SW_DESCRIPTOR_BYTES;
    sw_slot_t *slot = correct(comm, status);
    if (!slot && as_long)
        sw_tally_receive(comm, status->MPI_SOURCE, status->MPI_TAG);
    if (!slot)
        return;
    atomic_store(&slot->matched, 1);
    sw_matched(message, comm);
}

static int iprobe(int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Status *status)
{
    sw_match_enter();
    int rc = host.Iprobe(source, tag, comm, flag, status);
    if (rc == MPI_SUCCESS && *flag && source != MPI_PROC_NULL)
        correct(comm, status);
    sw_match_leave();
    return rc;
}

static int improbe(int source, int tag, MPI_Comm comm, int *flag,
                   MPI_Message *message, MPI_Status *status)
{
    sw_match_enter();
    int rc = host.Improbe(source, tag, comm, flag, message, status);
    if (rc == MPI_SUCCESS && *flag && source != MPI_PROC_NULL)
        matched(comm, *message, status);
    sw_match_leave();
    return rc;
}

/* May a blocking probe wait in the host? */
static bool may_block(int source)
{
    return source == MPI_PROC_NULL || (!sw_owing() && !sw_threaded);
}

int sw_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    sw_track_progress();
    return sw_linked ? iprobe(source, tag, comm, flag, to)
                     : host.Iprobe(source, tag, comm, flag, status);
}

int sw_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    int rc, flag = 0;
    if (!sw_linked)
        return host.Probe(source, tag, comm, status);
    if (may_block(source)) {
        rc = host.Probe(source, tag, comm, to);
        if (rc == MPI_SUCCESS && source != MPI_PROC_NULL)
            correct(comm, to);
        return rc;
    }
    sw_idle_t idle = {0};
    while ((rc = iprobe(source, tag, comm, &flag, to)) == MPI_SUCCESS &&
           !flag) {
        sw_track_progress();
        sw_idle(&idle);
    }
    return rc;
}

int sw_MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag,
                   MPI_Message *message, MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    sw_track_progress();
    return sw_linked ? improbe(source, tag, comm, flag, message, to)
                     : host.Improbe(source, tag, comm, flag, message, status);
}

int sw_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                  MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    int rc, flag = 0;
    if (!sw_linked)
        return host.Mprobe(source, tag, comm, message, status);
    if (may_block(source)) {
        rc = host.Mprobe(source, tag, comm, message, to);
        if (rc == MPI_SUCCESS && source != MPI_PROC_NULL)
            matched(comm, *message, to);
        return rc;
    }
    sw_idle_t idle = {0};
    while ((rc = improbe(source, tag, comm, &flag, message, to)) ==
               MPI_SUCCESS && !flag) {
        sw_track_progress();
        sw_idle(&idle);
    }
    return rc;
}
