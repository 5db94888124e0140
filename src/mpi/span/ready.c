/*
 * ready.c - does a span serve a call?
 *
 * The members number the calls that their span serves alike. At some numbers
 * they ask each other about devices, as members of a ring do at some steps
 * (mpi/base/reach.h).
 */
#include "spans.h"

#define FIRST 16                /* calls until the members ask each other    */
#define LATER 8                 /* and so many times as many, until again    */

static void review(sw_comm_t *c)
{
    int32_t any = 0;
    c->review = c->review ? c->span->calls * LATER : FIRST;
    if (c->span->calls < FIRST)
        return;
    if (sw_span_most(c->span, c->device, &any) == SW_OK && any) {
        c->over = true;
        c->reason = SW_REASON_DEVICE;
    }
}

/* Some procedures have no size that all members know: they agree on the largest
 * part of a member. */
static bool agree(sw_span_t *s, size_t *bytes)
{
    int32_t most = 0;
    int status = sw_span_most(s, (int32_t)sw_span_class(*bytes), &most);
    *bytes = most ? (size_t)1 << (most - 1) : 0;
    return status == SW_OK;
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
    *reason = SW_REASON_SPAN;
    if (reducer && !s->ordered && (scan || !reducer->commutative))
        return false;
    if ((id == SW_COLL_ALLTOALLV || id == SW_COLL_ALLTOALLW) &&
        !agree(s, &bytes))
        return false;
    if (sw_span_way(s, id, bytes) == SW_WAY_HOST)
        return false;
    s->calls++;
    return true;
}
