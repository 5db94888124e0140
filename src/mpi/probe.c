/*
 * probe.c - MPI_Probe, MPI_Iprobe, MPI_Mprobe, MPI_Improbe: the true length.
 *
 * The host's probe tells of 192 bytes where a descriptor waits. Its slot is
 * found in the sender's table, by the communicator's lineage and the tag: the
 * earliest that nobody has taken, for messages do not overtake each other. So
 * that this is the one the probe saw,
 *   - receives that the host has completed must have taken theirs: progress
 *     is made first;
 *   - behind a message that is 192 bytes long itself, no descriptor is sent
 *     with the same tag (route.h): it has no slot, and none is found;
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
 * been scheduled. The bound is against hosts that do not match in order. */
static void await_receives(MPI_Comm comm, int source, int tag)
{
    uint64_t end = 0;
    while (sw_track_expected(comm, source, tag)) {
        uint64_t now = sw_os_now();
        end = end ? end : now + 10 * 1000000000ull;
        if (now > end) {
            static _Atomic bool said;
            sw_say_once(&said, "a probe saw a message before a receive that "
                        "was posted for it: its length may be wrong");
            return;
        }
        sw_os_yield();
    }
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
    if (slot)
        sw_status_set_bytes(status, slot->bytes);
    return slot;
}

static void matched(MPI_Comm comm, MPI_Message message, MPI_Status *status)
{
    sw_slot_t *slot = correct(comm, status);
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
