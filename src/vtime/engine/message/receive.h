/*
 * receive.h - a rank's processor receives.
 */
#ifndef SW_VTIME_ENGINE_MESSAGE_RECEIVE_H
#define SW_VTIME_ENGINE_MESSAGE_RECEIVE_H

#include "vtime/engine/base/state.h"

/* A message and its receive are there at `at`; receiving it takes a processor's
 * `time`. */
void sw_receive_ready(sw_engine_t *engine, sw_request_t *receive, sw_ps_t at,
                      sw_ps_t time);
/* The rank has come to a call that waits. */
void sw_receive_in_call(sw_engine_t *engine, sw_rank_t *rank);
/* The rank tests at `time`: true, it takes what is in line first, and an event
 * decides its question later. */
bool sw_receive_tests(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time);
/* Its receiver's processor takes it from `at` on: a synced send is complete. */
void sw_receive_taken(sw_engine_t *engine, sw_message_t *message, sw_ps_t at);
/* The events READY, WAKE and HANDS (receive.c). */
void sw_receive_come(sw_engine_t *engine, const sw_heap_event_t *event);
void sw_receive_wake(sw_engine_t *engine, const sw_heap_event_t *event);
void sw_receive_hands(sw_engine_t *engine, const sw_heap_event_t *event);

#endif
