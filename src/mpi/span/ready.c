/*
 * ready.c - does a span serve a call?
 *
 * The members number the calls that their span serves alike. At some numbers
 * they ask each other about devices, as members of a sequence do at some steps
 * (mpi/base/reach.h).
 */
#include "spans.h"

#include "mpi/base/reach.h"

#include <limits.h>

static void review(sw_comm_t *c)
{
    int32_t any = 0;
    c->review = c->review ? c->span->calls * SW_REVIEW_LATER : SW_REVIEW_FIRST;
    if (c->span->calls < SW_REVIEW_FIRST)
        return;
    if (sw_span_most(c->span, sw_reach_answer(c), &any) == SW_OK &&
        any == SW_ANSWER_MET) {
        c->over = true;
        c->reason = SW_REASON_DEVICE;
    }
}

/* Does the host serve this call? Alltoallv and Alltoallw find their size out
 * (manifest.h), unless the host serves all sizes. */
static bool is_hosts(const sw_span_t *s, sw_collective_t id, size_t bytes)
{
    bool finds_out = id == SW_COLL_ALLTOALLV || id == SW_COLL_ALLTOALLW;
    return finds_out ? sw_span_never(s, id)
                     : sw_span_way(s, id, bytes) == SW_WAY_HOST;
}

/* The host counts bytes in int: those of all members in an allgather, and the
 * elements of a reduction. (`bytes` of an Allgatherv is a mean, rounded down.)
 */
static bool fits(const sw_span_t *s, sw_collective_t id, size_t bytes,
                 const sw_reducer_t *reducer)
{
    if (reducer)
        return bytes / reducer->elem <= INT_MAX;
    return (id != SW_COLL_ALLGATHER && id != SW_COLL_ALLGATHERV) ||
           bytes < INT_MAX / (size_t)s->n;
}

bool sw_span_ready(sw_comm_t *c, sw_collective_t id, size_t bytes,
                   const sw_reducer_t *reducer, sw_reason_t *reason)
{
    sw_span_t *s = c->span;
    bool scan = id == SW_COLL_SCAN || id == SW_COLL_EXSCAN;
    if (sw_unlikely(s->calls >= c->review))
        review(c);
    *reason = c->reason;
    if (c->over)
        return false;
    /* Members may have types of different gaps for a user's operation, and the
     * host reduces along the lanes by each member's own. No member knows of
     * another's gaps, so all leave such operations to the host. */
    *reason = SW_REASON_OPERATION;
    if (reducer && !reducer->kernel)
        return false;
    *reason = SW_REASON_SPAN;
    if (reducer && !s->ordered && (scan || !reducer->commutative))
        return false;
    if (is_hosts(s, id, bytes) || !fits(s, id, bytes, reducer))
        return false;
    s->calls++;
    return true;
}
