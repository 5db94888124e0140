/*
 * wire.h - messages travel. The data of a rendezvous do so when it has met its
 * receive: wire.c and match.c call each other.
 */
#ifndef SW_VTIME_ENGINE_MESSAGE_WIRE_H
#define SW_VTIME_ENGINE_MESSAGE_WIRE_H

#include "vtime/engine/base/state.h"
#include "vtime/engine/base/message.h"

/* `early`: the message, if it is in its place already. */
void sw_wire_send(sw_engine_t *engine, sw_strand_t *strand, uint32_t to,
                  int32_t tag, uint64_t context, uint64_t bytes, unsigned flags,
                  double scale, sw_request_t *send, sw_message_t *early);
/* A rendezvous has met its receive. */
void sw_wire_meet(sw_engine_t *engine, sw_message_t *message);
/* It comes to its sender's port, to the network, to its receiver's port. */
void sw_wire_out(sw_engine_t *engine, const sw_heap_event_t *event);
void sw_wire_enter(sw_engine_t *engine, const sw_heap_event_t *event);
void sw_wire_in(sw_engine_t *engine, const sw_heap_event_t *event);
/* A one-sided one of this kind, on a channel from its origin, with an access.
 * `request`: it is complete when the origin's memory may be used; or NULL. */
void sw_wire_remote(sw_engine_t *engine, sw_rank_t *rank, sw_channel_t *channel,
                    sw_remote_t kind, uint64_t bytes, sw_request_t *request);
/* What has reached its target is answered from there, at `time`. */
void sw_wire_turn(sw_engine_t *engine, sw_message_t *message, sw_ps_t time);

#endif
