/*
 * handlers.h - the kinds of events, and what happens at each.
 *
 * Rooms include those below them only. Where a lower room has something for a
 * higher one, it calls a handler. engine.c, above them all, has the table.
 */
#ifndef SW_VTIME_ENGINE_BASE_HANDLERS_H
#define SW_VTIME_ENGINE_BASE_HANDLERS_H

#include "names.h"
#include "vtime/base/heap.h"

typedef enum {
    SW_EVENT_OUT,
    SW_EVENT_ENTER,
    SW_EVENT_IN,     /* of a message */
    SW_EVENT_DECIDE, /* of a rank */
    SW_EVENT_UNLOCK,
    SW_EVENT_LOCK,  /* at a window */
    SW_EVENT_BEGIN, /* of a meeting */
    SW_EVENT_READY, /* of a receive */
    SW_EVENT_WAKE,
    SW_EVENT_HANDS, /* of a rank */
    SW_EVENT_READY_NODE,
    SW_EVENT_READY_MESSAGE,
    SW_EVENT_OVER_NODE,
    SW_EVENT_LOOK, /* of a graph */
    SW_EVENT_KINDS
} sw_event_kind_t;

typedef void sw_handler_t(sw_engine_t *engine, const sw_heap_event_t *event);

typedef struct {
    sw_handler_t *event[SW_EVENT_KINDS];
    /* Of a graph's operation: its request is complete at `time`. */
    void (*node_complete)(sw_engine_t *engine, sw_request_t *request,
                          sw_ps_t time);
    /* Its receive has its message at `at`, and takes a processor's `time`. */
    void (*node_received)(sw_engine_t *engine, sw_request_t *receive,
                          sw_ps_t at, sw_ps_t time);
    /* By LogGOPSim's rule a message will be at a graph's rank, matched or
     * not. */
    void (*node_arrives)(sw_engine_t *engine, sw_message_t *message);
    /* Of a one-sided message: it has left its sender's port, or is there. */
    void (*remote_left)(sw_engine_t *engine, sw_message_t *message,
                        sw_ps_t time);
    void (*remote_arrived)(sw_engine_t *engine, sw_message_t *message);
} sw_handlers_t;

#endif
