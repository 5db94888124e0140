/*
 * await.h - a lane's member waits for the host's nonblocking collective.
 *
 * It tests the request. In between it serves what its peers want of it, and
 * gives its core to others: a message between nodes takes many times as long
 * as that.
 */
#ifndef SW_MPI_SPAN_AWAIT_H
#define SW_MPI_SPAN_AWAIT_H

#include "spans.h"

/* What the host said when it started the request: an SW_ status. */
int sw_span_status(sw_span_t *s, int code);

/* Waits for *request, which the host started with result `code`. Where a member
 * has died meanwhile: SW_BROKEN, and the ring is broken, too. */
int sw_span_await(sw_span_t *s, MPI_Request *request, int code);

/* The first of two outcomes that is bad. */
static inline int sw_first_bad(int one, int other)
{
    return one ? one : other;
}

#endif
