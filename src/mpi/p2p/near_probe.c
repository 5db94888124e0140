/*
 * near_probe.c - see near_probe.h.
 */
#include "near_probe.h"

#include "mpi/base/progress.h"
#include "mpi/base/raise.h"
#include "mpi/request/complete.h"
#include "near_receive.h"
#include "proxy.h"
#include "node/base/settings.h"

#include <stdlib.h>

typedef struct message {
    MPI_Message handle;
    /* the stand-in; some hosts complete it when it is received */
    MPI_Request sent;
    sw_early_t *early;
    sw_comm_t *comm; /* held */
    struct message *next;
} message_t;

static message_t *messages; /* with the lock of the matcher */

bool sw_near_probes(sw_pattern_t *p, sw_comm_t **c, int source, int tag,
                    MPI_Comm comm)
{
    *c = sw_near(comm);
    if (!*c)
        return false;
    *p = (sw_pattern_t){(*c)->context_id, sw_near_source(source),
                        sw_near_tag(tag)};
    if ((unsigned)p->tag > (unsigned)sw_near_tag_max &&
        p->tag != SW_PATTERN_ANY)
        return false;
    return p->source == SW_PATTERN_ANY ||
           ((unsigned)p->source < (unsigned)(*c)->n &&
            sw_near_is(*c, p->source));
}

/* Looking ------------------------------------------------------------------ */

/* A message of ours, within the matcher's lock. */
static sw_early_t *look(const sw_pattern_t *p)
{
    sw_shadow_match_enter();
    sw_early_t *m = sw_matcher_find(p);
    if (!m)
        sw_shadow_match_leave();
    return m;
}

/* May the host have it? */
static bool is_either(const sw_comm_t *c, const sw_pattern_t *p)
{
    return sw_unlikely(c->near == SW_NEAR_SOME) && p->source == SW_PATTERN_ANY;
}

bool sw_near_hosts_turn(void)
{
    static _Atomic unsigned turn;
    return atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % 2;
}

/* Ask the host, which takes the message out if `takes`. True: it has answered.
 * A proxy (proxy.h) for which no receive was open is no answer. */
static bool ask_host(const sw_comm_t *c, const sw_pattern_t *p, bool takes,
                     sw_near_found_t *found)
{
    int flag = 0, tag = p->tag == SW_PATTERN_ANY ? MPI_ANY_TAG : p->tag;
    sw_shadow_match_enter();
    found->rc = takes ? host.Improbe(MPI_ANY_SOURCE, tag, c->handle, &flag,
                                     &found->message, &found->status)
                      : host.Iprobe(MPI_ANY_SOURCE, tag, c->handle, &flag,
                                    &found->status);
    if (flag && sw_proxy_is(&found->status, c)) {
        sw_proxy_remove(&found->status, c, takes ? &found->message : NULL);
        flag = 0;
    }
    sw_shadow_match_leave();
    return flag || found->rc != MPI_SUCCESS;
}

/* Wait for a message of a near rank. */
static sw_early_t *await_near(const sw_pattern_t *p)
{
    sw_early_t *m;
    int left = sw_near_spins;
    while (left-- > 0) {
        if (!sw_near_turn(false))
            continue;
        if ((m = look(p)))
            return m;
        left = sw_near_spins;
    }
    sw_wait_t wait = {.doorbell = sw_mailbox_doorbell};
    do {
        sw_wait_step(&wait);
        sw_near_turn(true);
    } while (!(m = look(p)));
    sw_wait_end(&wait);
    return m;
}

/* Wait for a message of any rank. */
static void await_either(const sw_comm_t *c, const sw_pattern_t *p, bool takes,
                         sw_near_found_t *found)
{
    sw_idle_t idle = {0};
    while (!found->early && !ask_host(c, p, takes, found)) {
        sw_shadow_progress();
        sw_idle(&idle, NULL);
        sw_near_turn(true);
        found->early = look(p);
    }
}

/* Find a message. One of ours is found within the matcher's lock. False: there
 * is none, and this call does not wait. */
static bool find(sw_comm_t *c, const sw_pattern_t *p, bool blocking, bool takes,
                 sw_near_found_t *found)
{
    bool either = is_either(c, p);
    found->rc = MPI_SUCCESS;
    found->early = NULL;
    if (either && sw_near_hosts_turn() && ask_host(c, p, takes, found))
        return true;
    sw_near_turn(true);
    if ((found->early = look(p)))
        return true;
    if (!blocking && either)
        return ask_host(c, p, takes, found);
    if (!blocking) {
        sw_shadow_poke(true);
        return false;
    }
    sw_progress_use(c->handle);
    if (either)
        await_either(c, p, takes, found);
    else
        found->early = await_near(p);
    return true;
}

static void tell(const sw_early_t *m, MPI_Status *status)
{
    const sw_envelope_t *e = &m->envelope;
    sw_near_status(status, e->pattern.source, e->pattern.tag,
                   sw_near_length(e, m->payload));
}

/* What the host has said. */
static int pass_on(const sw_near_found_t *found, MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE && found->rc == MPI_SUCCESS)
        *status = found->status;
    return found->rc;
}

/* Probes ------------------------------------------------------------------- */

int sw_near_iprobe(sw_comm_t *c, const sw_pattern_t *p, bool blocking,
                   int *flag, MPI_Status *status)
{
    sw_near_found_t found;
    *flag = find(c, p, blocking, false, &found);
    if (!*flag)
        return MPI_SUCCESS;
    if (!found.early)
        return pass_on(&found, status);
    tell(found.early, status);
    sw_shadow_match_leave();
    return MPI_SUCCESS;
}

void sw_near_await_message(sw_comm_t *c, const sw_pattern_t *p,
                           sw_near_found_t *found)
{
    find(c, p, true, true, found);
    if (!found->early)
        return;
    sw_matcher_extract(found->early);
    sw_shadow_match_leave();
}

/* A message of the host's, of this process to itself. */
static void stand_in(message_t *m)
{
    static _Atomic int serial;
    MPI_Comm own = sw_datatype_comm(MPI_COMM_SELF);
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
    sw_near_found_t found;
    *flag = find(c, p, blocking, true, &found);
    if (!*flag)
        return MPI_SUCCESS;
    if (!found.early) {
        *message = found.message;
        return pass_on(&found, status);
    }
    sw_early_t *m = found.early;
    sw_matcher_extract(m);
    sw_shadow_match_leave();
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
    sw_shadow_match_enter();
    known->next = messages;
    messages = known;
    sw_shadow_match_leave();
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
    sw_shadow_match_enter();
    message_t *m = *place(handle);
    *comm = m ? m->comm : NULL;
    sw_shadow_match_leave();
    return m;
}

sw_early_t *sw_near_message(MPI_Message *handle, sw_comm_t **comm)
{
    sw_shadow_match_enter();
    message_t **at = place(handle), *m = *at;
    if (m)
        *at = m->next;
    sw_shadow_match_leave();
    if (!m)
        return NULL;
    host.Mrecv(NULL, 0, MPI_BYTE, handle, MPI_STATUS_IGNORE);
    host.Wait(&m->sent, MPI_STATUS_IGNORE);
    sw_early_t *early = m->early;
    *comm = m->comm;
    free(m);
    return early;
}
