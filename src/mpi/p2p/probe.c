/*
 * probe.c - MPI_Probe, MPI_Iprobe, MPI_Mprobe, MPI_Improbe: the true length.
 *
 * The host's probe tells of 192 bytes where a descriptor waits. The slots of
 * the sender's table that are on offer for this communicator and tag tell what
 * it is:
 *
 *   - no descriptor follows a message that is 192 bytes long itself while that
 *     is under way (route.h). So if there are slots the host sees the
 *     descriptor of the earliest, and if there are none such a message;
 *   - receives that the host has completed must have taken theirs first: those
 *     that could have got it are asked;
 *   - a matched probe marks the slot, because it takes the message away.
 *
 * A descriptor that was cut short leaves a slot that nobody will take
 * (doubt.h). Of the doubtful ones, those before the last one that was taken are
 * known to be such. Where others remain the largest is told: what the program
 * makes room for then is enough, and the receive tells the true length.
 *
 * Whatever a probe has told, the receive looks at what has come.
 *
 * With threads the question to the host and the search are one step, between
 * which no receive is posted and no other probe asks (sw_match_enter). So
 * every receive that could have got an earlier message, and is not known to
 * have got it, was posted before; were it still open, it would have got the
 * probed message itself. It has therefore been matched, and is waited for.
 */
#include "mpi/request/unhelped.h"
#include "doubt.h"
#include "receive.h"
#include "receives.h"
#include "route.h"
#include "p2p/tally.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_matched_t *list, **last = &list;

static void remember(const sw_matched_t *what)
{
    sw_matched_t *m = malloc(sizeof *m);
    if (!m) {
        sw_say("out of memory in a probe");
        abort();
    }
    *m = *what;
    sw_comm_hold(m->comm);
    pthread_mutex_lock(&lock);
    *last = m;
    last = &m->next;
    pthread_mutex_unlock(&lock);
}

bool sw_matched_take(const MPI_Message *message, sw_matched_t *to)
{
    to->comm = NULL;
    if (!__atomic_load_n(&list, __ATOMIC_RELAXED) || !message)
        return false;
    pthread_mutex_lock(&lock);
    sw_matched_t **link = &list, *m;
    while ((m = *link) && m->message != *message)
        link = &m->next;
    if (m) {
        *to = *m;
        *link = m->next;
        if (last == &m->next)
            last = link;
        free(m);
    }
    pthread_mutex_unlock(&lock);
    return m;
}

void sw_matched_lost(const sw_matched_t *m)
{
    if (m->slot)
        sw_route_refuse(sw_link(m->comm, m->source), m->slot);
}

/* Other threads' receives of earlier messages; ends when these threads have
 * been scheduled. The bound is for receives that have got a large message from
 * the host, which may take its time. */
static void await_receives(sw_comm_t *c, int source, int tag)
{
    uint64_t end = 0;
    while (sw_receive_expected(c, source, tag)) {
        uint64_t now = sw_os_now();
        end = end ? end : now + 1000000000ull;
        if (now > end)
            return;
        sw_os_yield();
    }
}

/* The slot of the message that the host sees; NULL where several may be it, of
 * which `largest` is the largest. */
static sw_found_t on_offer(sw_comm_t *c, const sw_link_t *link, int tag)
{
    uint64_t after = 0, until = 0;
    if (sw_in_doubt(tag)) {
        after = sw_tally_of(&sw_last_taken, c->context_id, link->place, tag);
        until = link->doubtful;
    }
    sw_found_t old = {.count = 0};
    if (sw_unlikely(until > after))
        old = sw_slots_find(link->peer, link->directory, c->context_id,
                            sw_world.place, tag, after, until);
    sw_found_t found = sw_slots_find(link->peer, link->directory, c->context_id,
                                     sw_world.place, tag,
                                     sw_max(after, until), UINT64_MAX);
    found.largest = found.bytes;
    if (sw_likely(!old.count))
        return found;
    if (old.count + found.count > 1)
        old.first = NULL;
    old.largest = sw_max(old.largest, found.largest);
    return old;
}

/* Correct the status of a probe. *as_long: the message may be a descriptor;
 * then returns its slot, or NULL where that is not known for certain. */
static sw_slot_t *correct(sw_comm_t *c, MPI_Status *status, bool *as_long)
{
    *as_long = sw_linked && sw_status_bytes(status) == SW_DESCRIPTOR_BYTES;
    if (!*as_long)
        return NULL;
    int source = status->MPI_SOURCE, tag = status->MPI_TAG;
    sw_link_t *link = c && c->context_id ? sw_link(c, source) : NULL;
    *as_long = link;
    if (!link)
        return NULL;
    if (sw_threaded)
        await_receives(c, source, tag);
    else
        sw_receive_expected(c, source, tag);
    sw_found_t found = on_offer(c, link, tag);
    if (!found.count)
        return NULL;
    sw_status_set_bytes(status, found.largest);
    return found.first;
}

/* One that is no descriptor is out of every later probe's way. */
static void matched(MPI_Comm comm, MPI_Message message, MPI_Status *status)
{
    bool as_long;
    sw_matched_t m = {.message = message, .comm = sw_comm_state(comm),
                      .source = status->MPI_SOURCE, .tag = status->MPI_TAG};
    m.slot = correct(m.comm, status, &as_long);
    if (!as_long)
        return;
    if (m.slot)
        atomic_store(&m.slot->matched, 1);
    remember(&m);
}

static int iprobe(int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Status *status)
{
    sw_match_enter();
    int rc = host.Iprobe(source, tag, comm, flag, status);
    if (rc == MPI_SUCCESS && *flag && source != MPI_PROC_NULL)
        correct(sw_comm_state(comm), status, &(bool){false});
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

int sw_far_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    sw_track_progress();
    return sw_linked ? iprobe(source, tag, comm, flag, to)
                     : host.Iprobe(source, tag, comm, flag, status);
}

int sw_far_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    int rc, flag = 0;
    if (!sw_linked && !sw_unhelped())
        return host.Probe(source, tag, comm, status);
    if (may_block(source)) {
        rc = host.Probe(source, tag, comm, to);
        if (rc == MPI_SUCCESS && source != MPI_PROC_NULL)
            correct(sw_comm_state(comm), to, &(bool){false});
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

int sw_far_Improbe(int source, int tag, MPI_Comm comm, int *flag,
                   MPI_Message *message, MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    sw_track_progress();
    return sw_linked ? improbe(source, tag, comm, flag, message, to)
                     : host.Improbe(source, tag, comm, flag, message, status);
}

int sw_far_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                  MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    int rc, flag = 0;
    if (!sw_linked && !sw_unhelped())
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
