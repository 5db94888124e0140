/*
 * requests.c - what completes, starts or ends requests; see traffic.h.
 *
 * A call that completes requests changes their handles, and may be given no
 * place for statuses. So handles are kept before, and statuses of our own are
 * handed in where a receive among them tells its bytes by one.
 *
 * Where several threads call MPI, the host may give the handle of a completed
 * request to another thread before the recorder hears of it. So what is
 * remembered of the requests is taken out of the table before the call, and put
 * back for those that have not completed. (A persistent one keeps its handle.)
 *
 * While recording is paused, bytes are not counted. Then a status is wanted
 * only where it says whose message a receive from any source has taken; a host
 * may be quicker without statuses.
 */
#include "traffic.h"

#include <string.h>

static void take(sw_completion_t *c)
{
    for (int64_t i = 0; c->taken && i < c->n; i++) {
        sw_pending_t *p = &c->taken[i];
        if (!sw_pending_take(c->requests[i], p))
            p->request = 0;
    }
}

void sw_record_complete_rest(sw_completion_t *c)
{
    if (sw_likely(!c->requests || !c->taken))
        return;
    for (int64_t i = 0; i < c->n; i++)
        if (c->taken[i].request && !c->taken[i].persistent)
            sw_pending_add(&c->taken[i]);
}

static bool end(sw_completion_t *c, int64_t i, sw_pending_t *to)
{
    if (sw_likely(!c->taken))
        return sw_pending_end(c->requests[i], to);
    sw_pending_t *p = &c->taken[i];
    *to = *p;
    if (p->persistent)
        return p->request && sw_pending_end(p->request, to);
    p->request = 0;
    return to->request != 0;
}

static void ended(sw_event_t *e, sw_completion_t *c, int64_t i,
                  const MPI_Status *status)
{
    sw_pending_t p;
    if (!end(c, i, &p) || c->silent)
        return;
    if (p.kind == SW_PENDING_COLLECTIVE)
        sw_collective_ended(e, &p);
    else
        sw_record_message_ended(e, &p, status);
}

static bool is_silent(const sw_event_t *e)
{
    return e->paused &&
           !atomic_load_explicit(&sw_pending_asking, memory_order_relaxed);
}

/* Only what waits is looked at for waiting: a test that finds nothing tells
 * nothing. */
MPI_Status *sw_record_complete_one_before(sw_event_t *e, sw_completion_t *c,
                                          const MPI_Request *request,
                                          MPI_Status *status, bool waits)
{
    c->requests = NULL;
    if (sw_likely(
            !atomic_load_explicit(&sw_pending_count, memory_order_relaxed)) ||
        !request)
        return status;
    c->n = 1;
    c->few[0] = (uintptr_t)*request;
    c->requests = c->few;
    c->taken = sw_pending_shared ? &c->one_taken : NULL;
    take(c);
    c->silent = is_silent(e);
    c->statuses = status == MPI_STATUS_IGNORE && !c->silent ? c->few_statuses
                                                            : status;
    e->partners = waits;
    return c->statuses;
}

/* One by one (volatile): they are few, the compiler would think of many. */
static void keep(volatile uint64_t *to, const MPI_Request *requests, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (uintptr_t)requests[i];
}

MPI_Status *sw_record_complete_before(sw_event_t *e, sw_completion_t *c,
                                      int64_t n, const MPI_Request *requests,
                                      MPI_Status *statuses, bool several,
                                      bool waits)
{
    c->requests = NULL;
    if (n <= 0 || !requests ||
        !atomic_load_explicit(&sw_pending_count, memory_order_relaxed))
        return statuses;
    bool ignored = several ? statuses == MPI_STATUSES_IGNORE
                           : statuses == MPI_STATUS_IGNORE;
    uint64_t *handles = c->few;
    MPI_Status *own = c->few_statuses;
    c->taken = NULL;
    if (n > SW_COMPLETION_FEW || sw_pending_shared) {
        size_t bytes = sw_round_up((size_t)n * sizeof(uint64_t), 16);
        size_t extra = ignored && several ? (size_t)n * sizeof *own : 0;
        extra = sw_round_up(extra, 16);
        size_t taken = sw_pending_shared ? (size_t)n * sizeof *c->taken : 0;
        char *room = sw_event_scratch(bytes + extra + taken);
        if (!room)
            return statuses;
        handles = (uint64_t *)(void *)room;
        own = several ? (MPI_Status *)(void *)(room + bytes) : own;
        c->taken = taken ? (sw_pending_t *)(void *)(room + bytes + extra)
                         : NULL;
    }
    keep(handles, requests, n);
    c->n = n;
    c->requests = handles;
    c->silent = is_silent(e);
    c->statuses = ignored && !c->silent ? own : statuses;
    take(c);
    e->partners = waits ? (uint32_t)n : 0;
    return c->statuses;
}

void sw_record_complete_one_after(sw_event_t *e, sw_completion_t *c)
{
    if (c->requests)
        sw_record_complete_all_after(e, c, 1);
}

void sw_record_complete_any_after(sw_event_t *e, sw_completion_t *c, int index)
{
    if (c->requests && index >= 0 && index != MPI_UNDEFINED)
        ended(e, c, index, c->statuses);
}

void sw_record_complete_some_after(sw_event_t *e, sw_completion_t *c, int count,
                                   const int *indices)
{
    if (!c->requests || count == MPI_UNDEFINED)
        return;
    for (int i = 0; i < count; i++)
        ended(e, c, indices[i], &c->statuses[i]);
}

void sw_record_complete_all_after(sw_event_t *e, sw_completion_t *c, int64_t n)
{
    if (!c->requests)
        return;
    if (c->silent && !c->taken) {
        sw_pending_end_all(c->requests, n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        ended(e, c, i, &c->statuses[i]);
}

/* A request that the failed call has freed is set to null. */
void sw_record_complete_failed(sw_completion_t *c, int64_t n,
                               const MPI_Request *requests)
{
    if (!c->requests)
        return;
    for (int64_t i = 0; i < n; i++)
        if (requests[i] == MPI_REQUEST_NULL && c->taken &&
            !c->taken[i].persistent)
            c->taken[i].request = 0;
        else if (requests[i] == MPI_REQUEST_NULL)
            sw_pending_drop(c->requests[i]);
}

void sw_record_start_before(sw_event_t *e, MPI_Request request)
{
    sw_pending_t p;
    if (!sw_pending_look((uintptr_t)request, &p) || !p.persistent)
        return;
    if (p.kind == SW_PENDING_COLLECTIVE)
        sw_collective_starts(e, &p);
    else
        sw_record_message_starts(e, &p);
}

MPI_Request *sw_record_startall_before(sw_event_t *e, int n,
                                       const MPI_Request *requests)
{
    size_t size = n > 0 ? (size_t)n * sizeof *requests : 0;
    MPI_Request *were = size ? sw_event_scratch(size) : NULL;
    for (int i = 0; i < n; i++)
        sw_record_start_before(e, requests[i]);
    if (n > 1)
        e->amount.size = 0;
    if (were)
        memcpy(were, requests, size);
    return were;
}

/* Open MPI gives another handle for a request that it has not quite done with
 * when it is started again. */
void sw_record_start_after(int n, const MPI_Request *were,
                           const MPI_Request *requests)
{
    sw_pending_t p;
    for (int i = 0; i < n && were; i++)
        if (sw_unlikely(were[i] != requests[i]) &&
            sw_pending_look((uintptr_t)were[i], &p)) {
            sw_pending_drop(p.request);
            p.request = (uintptr_t)requests[i];
            sw_pending_add(&p);
        }
}

void sw_record_request_freed(MPI_Request request)
{
    sw_pending_drop((uintptr_t)request);
}

void sw_record_request_cancelled(MPI_Request request)
{
    sw_pending_t p;
    if (sw_pending_look((uintptr_t)request, &p)) {
        p.cancelled = p.asks = true;
        sw_pending_add(&p);
    }
}
