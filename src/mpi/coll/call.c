/*
 * call.c - see call.h.
 */
#include "call.h"

#include "mpi/base/failure.h"
#include "mpi/base/guard.h"
#include "mpi/base/raise.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Counted only with --stats. ours[] includes calls later declined: those
 * subtract. */
static _Atomic int64_t ours[SW_CALL_ROWS], over_nodes[SW_CALL_ROWS];
static _Atomic int64_t theirs[SW_CALL_ROWS][SW_REASON_COUNT];

/* Which collectives STRAIGHTWAY_ONLY allows: a bit mask, made once. */
static uint32_t allowed(void)
{
    static _Atomic uint32_t mask;   /* bit 31: made */
    uint32_t m = atomic_load_explicit(&mask, memory_order_relaxed);
    if (sw_likely(m))
        return m;
    m = 1u << 31;
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

static void add(_Atomic int64_t *to, int64_t by)
{
    if (sw_unlikely(sw_settings.stats) && sw_from_user())
        atomic_fetch_add_explicit(to, by, memory_order_relaxed);
}

static void count(int row, sw_reason_t reason, int64_t by)
{
    add(reason == SW_OURS ? &ours[row] : &theirs[row][reason], by);
}

bool sw_ready_over_nodes(sw_comm_t *c, sw_collective_t id, size_t bytes,
                         const sw_reducer_t *reducer, sw_reason_t *reason)
{
    if (!c->span || c->over || !sw_span_ready(c, id, bytes, reducer, reason))
        return false;
    add(&over_nodes[id], 1);
    return true;
}

sw_comm_t *sw_serve(sw_collective_t id, MPI_Comm comm)
{
    sw_reason_t reason = SW_REASON_OFF;
    if (sw_likely(sw_settings.collectives && sw_accelerating() &&
                  (allowed() >> id & 1))) {
        sw_comm_t *c = sw_comm_enter(comm);
        if (sw_unlikely(sw_failure_told && c && sw_comm_near(c) &&
                        sw_failure_revoked(comm)))
            sw_comm_leave(c, SW_REASON_LOST);
        reason = c ? c->reason : SW_REASON_ARGUMENTS;
        if (sw_likely(c && (c->ring || !c->settled ||
                            sw_comm_near(c)))) {
            count((int)id, SW_OURS, 1);
            return c;
        }
    }
    count((int)id, reason, 1);
    return NULL;
}

void sw_decline(int row, sw_reason_t reason)
{
    count(row, SW_OURS, -1);
    count(row, reason, 1);
}

sw_comm_t *sw_serve_started(int row, MPI_Comm comm)
{
    sw_collective_t id = (sw_collective_t)(row % SW_COLL_COUNT);
    sw_reason_t reason = SW_REASON_OFF;
    if (sw_likely(sw_settings.collectives && sw_settings.nonblocking &&
                  sw_accelerating() && (allowed() >> id & 1))) {
        sw_comm_t *c = sw_comm_state(comm);
        reason = c ? sw_comm_no_slates(c) : SW_REASON_ARGUMENTS;
        if (sw_likely(reason == SW_OURS)) {
            count(row, SW_OURS, 1);
            return c;
        }
    }
    count(row, reason, 1);
    return NULL;
}

int sw_finish(sw_collective_t id, MPI_Comm comm, int status)
{
    if (sw_unlikely(atomic_load_explicit(&sw_windows_made,
                                         memory_order_relaxed)))
        sw_comm_progress();
    if (sw_likely(status == SW_OK))
        return MPI_SUCCESS;
    return sw_raise(comm, sw_outcome(id, status));
}

int sw_outcome(sw_collective_t id, int status)
{
    /* Of what is broken, sw_comm_give_up lets the host tell. */
    if (sw_likely(status == SW_OK) || status == SW_BROKEN)
        return MPI_SUCCESS;
    static const char *const text[] = {
        [SW_MISMATCH] = "the members of a communicator call different "
                        "collectives, or with different roots",
        [SW_UNREACHABLE] = "data of a member cannot be reached",
        [SW_NO_ROOM] = "a member has no memory for its part",
    };
    static _Atomic bool said[sizeof text / sizeof *text];
    if (text[status])
        sw_say_once(&said[status], "%s: %s", sw_collective_title(id),
                    text[status]);
    return status == SW_TRUNCATED ? MPI_ERR_TRUNCATE
         : status == SW_NO_ROOM   ? MPI_ERR_NO_MEM
                                  : MPI_ERR_OTHER;
}

int sw_call_reported(int i)
{
    static const uint8_t reported[SW_COLL_COUNT] = {
#define SW_COLLECTIVE(NUMBER, ...) NUMBER,
#include "collectives.inc"
    };
    return i - i % SW_COLL_COUNT + reported[i % SW_COLL_COUNT];
}

void sw_call_name(int row, char *to, size_t bytes)
{
    const char *name = sw_collective_title(
        (sw_collective_t)(row % SW_COLL_COUNT));
    bool started = row >= SW_CALL_STARTED && row < SW_CALL_INIT;
    snprintf(to, bytes, "%s%c%s%s", started ? "I" : "",
             started ? tolower(*name) : *name, name + 1,
             row >= SW_CALL_INIT ? "_init" : "");
}

void sw_call_counts(int64_t rows[SW_CALL_ROWS][SW_CALL_ROW])
{
    for (int i = 0; i < SW_CALL_ROWS; i++) {
        rows[i][SW_CALL_OURS] = atomic_load(&ours[i]);
        rows[i][SW_CALL_OVER_NODES] = atomic_load(&over_nodes[i]);
        for (int r = 0; r < SW_REASON_COUNT; r++)
            rows[i][SW_CALL_HOST + r] = atomic_load(&theirs[i][r]);
    }
}
