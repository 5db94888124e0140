/*
 * request.h - requests: known to their rank by number, or held by a strand.
 */
#ifndef SW_VTIME_ENGINE_BASE_REQUEST_H
#define SW_VTIME_ENGINE_BASE_REQUEST_H

#include "names.h"
#include "vtime/model/plan.h"

typedef enum {
    SW_REQUEST_SEND,
    SW_REQUEST_RECV,
    SW_REQUEST_COLLECTIVE,
    SW_REQUEST_WINDOW,
    SW_REQUEST_THREAD, /* another thread is so far */
} sw_request_kind_t;

/* Complete at `complete`, if that is known; a receive that is not may begin
 * then (receive.c). */
struct sw_request {
    /* sw_request_kind_t; sw_op_collective_t, sw_window_t */
    uint8_t kind, what;
    bool known, dropped, listed;
    bool held; /* by its rank's strand, without a number */
    bool any;  /* a receive with MPI_ANY_SOURCE, open */
    bool live; /* ... which the host will match */
    /* a receive that is in its place, but its thread has not come to it
     * (thread.c) */
    bool early;
    bool gone; /* ... and it is cancelled */
    /* a receive: its message is there, and the processor has not taken it
     * (receive.c) */
    bool arriving;
    bool awaited;  /* its wait is known, by its address */
    uint32_t node; /* of a graph, and 1; 0: none */
    uint32_t number, rank;
    sw_ps_t complete, posted;
    /* known with `complete`: when every rank it depends on had called; what
     * follows is data that move */
    sw_ps_t came;
    sw_strand_t *waiter;
    /* A receive: */
    sw_channel_t *channel;
    sw_request_t *next, *previous; /* posted, in order; members waiting */
    sw_message_t *message;
    uint64_t order; /* of its rank's receives */
    uint64_t context;
    int32_t peer, tag;
    sw_ps_t takes;       /* the processor's time for it */
    uint32_t in_context; /* a collective: its number */
    uint64_t bytes;      /* received; of a collective: one block */
    /* A collective of started.c; `previous`: of the rank's absent ones. */
    sw_meeting_t *meeting;
    sw_ps_t attends;
    sw_started_plan_t started;
};

static inline uint64_t sw_request_key(uint32_t rank, uint32_t number)
{
    return (uint64_t)rank << 32 | number;
}

sw_request_t *sw_request_new(sw_engine_t *engine, sw_request_kind_t kind,
                             uint32_t rank, uint32_t number);
sw_request_t *sw_request_find(sw_engine_t *engine, uint32_t rank,
                              uint32_t number);
void sw_request_complete(sw_engine_t *engine, sw_request_t *request,
                         sw_ps_t time);
void sw_request_free(sw_engine_t *engine, sw_request_t *request);
/* It has its number no more. */
void sw_request_unnumber(sw_engine_t *engine, sw_request_t *request);
/* A request without a number is freed, and what it stands on. */
void sw_request_forget(sw_engine_t *engine, sw_request_t *request);
/* No strand waits for the request. */
void sw_request_drop(sw_engine_t *engine, sw_request_t *request);

#endif
