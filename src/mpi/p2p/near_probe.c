/*
 * near_probe.c - see near_probe.h.
 */
#include "near_probe.h"

#include "mpi/base/raise.h"
#include "near_receive.h"
#include "node/base/settings.h"

#include <stdlib.h>

typedef struct message {
    MPI_Message handle;
    MPI_Request sent;           /* the stand-in; some hosts complete it when it
                                 * is received                              */
    sw_early_t *early;
    sw_comm_t *comm;            /* held */
    struct message *next;
} message_t;

static message_t *messages;     /* with the lock of the matcher */

bool sw_near_probes(sw_pattern_t *p, sw_comm_t **c, int source, int tag,
                    MPI_Comm comm)
{
    *c = sw_near(comm);
    if (!*c)
        return false;
    *p = (sw_pattern_t){(*c)->context_id, sw_near_source(source),
                        sw_near_tag(tag)};
    return ((unsigned)p->source < (unsigned)(*c)->n ||
            p->source == SW_PATTERN_ANY) &&
           ((unsigned)p->tag <= (unsigned)sw_near_tag_max ||
            p->tag == SW_PATTERN_ANY);
}

static sw_early_t *look(const sw_pattern_t *p)
{
    sw_match_enter();
    sw_early_t *m = sw_matcher_find(p);
    return m;                   /* the caller leaves */
}

/* Find a message, within the matcher's lock; else leave it: there is none, and
 * nobody waits. */
static sw_early_t *find(sw_comm_t *c, const sw_pattern_t *p, bool blocking)
{
    sw_early_t *m;
    sw_near_turn(true);
    if ((m = look(p)))
        return m;
    sw_match_leave();
    if (!blocking) {
        sw_track_poke(true);
        return NULL;
    }
    sw_comm_use(c->handle);
    int left = sw_near_spins;
    while (left-- > 0) {
        if (!sw_near_turn(false))
            continue;
        if ((m = look(p)))
            return m;
        sw_match_leave();
        left = sw_near_spins;
    }
    sw_wait_t wait = {.doorbell = sw_mailbox_doorbell};
    while (true) {
        sw_wait_step(&wait);
        sw_near_turn(true);
        if ((m = look(p)))
            break;
        sw_match_leave();
    }
    sw_wait_end(&wait);
    return m;
}

static void tell(const sw_early_t *m, MPI_Status *status)
{
    const sw_envelope_t *e = &m->envelope;
    sw_near_status(status, e->pattern.source, e->pattern.tag,
                   sw_near_length(e, m->payload));
}

int sw_near_iprobe(sw_comm_t *c, const sw_pattern_t *p, bool blocking,
                   int *flag, MPI_Status *status)
{
    sw_early_t *m = find(c, p, blocking);
    *flag = m != NULL;
    if (!m)
        return MPI_SUCCESS;
    tell(m, status);
    sw_match_leave();
    return MPI_SUCCESS;
}

sw_early_t *sw_near_await_message(sw_comm_t *c, const sw_pattern_t *p)
{
    sw_early_t *m = find(c, p, true);
    sw_matcher_extract(m);
    sw_match_leave();
    return m;
}

/* A message of the host's, of this process to itself. */
static void stand_in(message_t *m)
{
    static _Atomic int serial;
    MPI_Comm own = sw_private_comm(MPI_COMM_SELF);
    int tag = atomic_fetch_add(&serial, 1) & 0x3fff, flag = 0;
    m->handle = MPI_MESSAGE_NULL;
    if (host.Isend(NULL, 0, MPI_BYTE, 0, tag, own, &m->sent) != MPI_SUCCESS)
        return;
    while (!flag && host.Improbe(0, tag, own, &flag, &m->handle,
                                 MPI_STATUS_IGNORE) == MPI_SUCCESS)
        continue;
}

int sw_near_improbe(sw_comm_t *c, const sw_pattern_t *p, bool blocking,
                    int *flag, MPI_Message *message, MPI_Status *status)
{
    sw_early_t *m = find(c, p, blocking);
    *flag = m != NULL;
    if (!m)
        return MPI_SUCCESS;
    sw_matcher_extract(m);
    sw_match_leave();
    tell(m, status);
    message_t *known = malloc(sizeof *known);
    if (known)
        stand_in(known);
    if (!known || known->handle == MPI_MESSAGE_NULL) {
        sw_say("out of memory in a matched probe");
        abort();
    }
    sw_comm_hold(c);
    *message = known->handle;
    known->early = m;
    known->comm = c;
    sw_match_enter();
    known->next = messages;
    messages = known;
    sw_match_leave();
    return MPI_SUCCESS;
}

static message_t **place(const MPI_Message *handle)
{
    message_t **at = &messages;
    while (*at && (*at)->handle != *handle)
        at = &(*at)->next;
    return at;
}

bool sw_near_knows(const MPI_Message *handle, sw_comm_t **comm)
{
    if (!__atomic_load_n(&messages, __ATOMIC_RELAXED) || !handle)
        return false;
    sw_match_enter();
    message_t *m = *place(handle);
    *comm = m ? m->comm : NULL;
    sw_match_leave();
    return m;
}

sw_early_t *sw_near_message(MPI_Message *handle, sw_comm_t **comm)
{
    sw_match_enter();
    message_t **at = place(handle), *m = *at;
    if (m)
        *at = m->next;
    sw_match_leave();
    if (!m)
        return NULL;
    host.Mrecv(NULL, 0, MPI_BYTE, handle, MPI_STATUS_IGNORE);
    host.Wait(&m->sent, MPI_STATUS_IGNORE);
    sw_early_t *early = m->early;
    *comm = m->comm;
    free(m);
    return early;
}
