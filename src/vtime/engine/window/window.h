/*
 * window.h - one-sided operations.
 */
#ifndef SW_VTIME_ENGINE_WINDOW_WINDOW_H
#define SW_VTIME_ENGINE_WINDOW_WINDOW_H

#include "vtime/engine/base/state.h"

/* One-sided operations. False: it is wrong. `wait`: until this is
 * complete; NULL: go on. */
bool sw_window_do(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op,
                  sw_request_t **wait);
/* A thread has made a window; others may be behind it in virtual time. */
void sw_window_taken(sw_engine_t *engine, uint32_t rank, const sw_vop_t *op);
/* The origin's memory may be used again, or all is there. */
void sw_window_left(sw_engine_t *engine, sw_message_t *message, sw_ps_t time);
void sw_window_arrived(sw_engine_t *engine, sw_message_t *message);
/* A request for a lock, or its release, is at the target. */
void sw_window_lock(sw_engine_t *engine, const sw_heap_event_t *event);
void sw_window_unlock(sw_engine_t *engine, const sw_heap_event_t *event);

#endif
