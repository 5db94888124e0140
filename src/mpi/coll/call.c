/*
 * call.c - see call.h.
 */
#include "call.h"

#include "counted.h"
#include "lift.h"
#include "mpi/base/failure.h"
#include "mpi/base/turn.h"

#include <string.h>
#include <strings.h>

/* Which collectives STRAIGHTWAY_ONLY allows: a bit mask, made once. */
static _Atomic uint32_t mask; /* bit 31: made */

__attribute__((noinline, cold)) static uint32_t make_mask(void)
{
    uint32_t m = 1u << 31;
    const char *text = sw_settings.only;
    if (!*text)
        m |= (1u << SW_COLL_COUNT) - 1;
    while (*text) {
        size_t n = strcspn(text, ",");
        bool known = false;
        for (int i = 0; i < SW_COLL_COUNT; i++) {
            const char *title = sw_collective_title((sw_collective_t)i);
            if (strlen(title) == n && !strncasecmp(title, text, n)) {
                m |= 1u << i;
                known = true;
            }
        }
        if (!known)
            sw_say("STRAIGHTWAY_ONLY: there is no collective '%.*s'", (int)n,
                   text);
        text += n + (text[n] == ',');
    }
    atomic_store(&mask, m);
    return m;
}

static inline uint32_t allowed(void)
{
    uint32_t m = atomic_load_explicit(&mask, memory_order_relaxed);
    return sw_likely(m) ? m : make_mask();
}

static inline bool on(sw_collective_t id)
{
    return sw_likely(sw_settings.collectives && sw_control_accelerating() &&
                     (allowed() >> id & 1));
}

/* The communicator whose members may serve a blocking call, or NULL. */
static sw_comm_t *serves(sw_collective_t id, MPI_Comm comm, sw_reason_t *reason)
{
    *reason = SW_REASON_OFF;
    if (!on(id) || sw_turn_hosts(comm))
        return NULL;
    sw_comm_t *c = sw_comm_enter(comm);
    if (sw_unlikely(sw_failure_told && c && sw_comm_near(c) &&
                    sw_failure_revoked(comm)))
        sw_comm_leave(c, SW_REASON_LOST);
    *reason = c ? c->reason : SW_REASON_ARGUMENTS;
    return sw_likely(c &&
                     (c->sequence || !c->settled || sw_comm_near(c) ||
                      (c->reason != SW_REASON_INTER && sw_lift_serves(id))))
               ? c
               : NULL;
}

sw_comm_t *sw_call_serves_started(sw_collective_t id, MPI_Comm comm,
                                  sw_reason_t *reason)
{
    *reason = SW_REASON_OFF;
    if (!on(id) || !sw_settings.nonblocking)
        return NULL;
    sw_comm_t *c = sw_comm_state(comm);
    *reason = c ? sw_comm_no_slates(c) : SW_REASON_ARGUMENTS;
    return *reason == SW_OURS ? c : NULL;
}

sw_coll_call_t *sw_call_begin(sw_blocking_t *b, sw_collective_t id,
                              MPI_Comm comm)
{
    sw_coll_call_t *k = &b->call;
    k->id = id;
    k->trial = NULL;
    k->form = SW_CALL_BLOCKING;
    k->comm = comm;
    k->c = serves(id, comm, &k->reason);
    if (sw_unlikely(!k->c)) {
        sw_count_host(k);
        return NULL;
    }
    k->result = MPI_SUCCESS;
    k->reason = SW_REASON_ARGUMENTS;
    k->used = 0;
    k->room = (sw_scratch_t){.at = NULL};
    sw_count_ours(k, 1);
    return k;
}

void *sw_call_room(sw_coll_call_t *k, size_t bytes)
{
    void *at = sw_call_few(k, bytes);
    if (sw_unlikely(!at))
        at = sw_scratch(&k->room, bytes);
    if (!at) {
        sw_say("out of memory for a collective");
        abort();
    }
    return at;
}
