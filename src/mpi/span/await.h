/*
 * await.h - a lane's member waits for what the host has begun.
 *
 * The member tests. In between it serves its peers, and later yields its core
 * to other processes (mpi/base/idle.h). A message between nodes takes many
 * times as long as that.
 */
#ifndef SW_MPI_SPAN_AWAIT_H
#define SW_MPI_SPAN_AWAIT_H

#include "spans.h"

#include "mpi/base/idle.h"

/* One wait. Of the host's code, and of a member that has died meanwhile, comes
 * an SW_ status. */
typedef struct {
    sw_span_t *s;
    uint64_t keep; /* until then the member keeps its core, ns */
    sw_idle_t idle;
    bool lost; /* a member has died */
} sw_await_t;

/* It waits for something that moves so many bytes. */
sw_await_t sw_await_begin(sw_span_t *s, size_t bytes);

/* Between two tests. True: there is no use in another one. */
bool sw_await_rest(sw_await_t *wait);

/* Gives up. MPI cannot cancel a collective, so the member revokes the lane, on
 * which the host then ends what has been begun. The sequence is broken, too. */
void sw_await_abandon(sw_await_t *wait);

/* The SW_ status of what the host has returned. */
int sw_await_status(sw_span_t *s, int code);

/* Waits for *request of so many bytes, which the host started with result
 * `code`. */
int sw_span_await(sw_span_t *s, MPI_Request *request, int code, size_t bytes);

/* The first of two outcomes that is bad. */
static inline int sw_await_first_bad(int one, int other)
{
    return one ? one : other;
}

#endif
