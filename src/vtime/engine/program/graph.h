/*
 * graph.h - a rank whose operations are a partial order.
 */
#ifndef SW_VTIME_ENGINE_PROGRAM_GRAPH_H
#define SW_VTIME_ENGINE_PROGRAM_GRAPH_H

#include "vtime/engine/base/state.h"

/* All operations of the rank that follow are a partial order, which is read,
 * and read on. False: it is late, waits until all are over, or they
 * cannot be. */
bool sw_graph_begin(sw_engine_t *engine, sw_rank_t *rank);
bool sw_graph_read(sw_engine_t *engine, sw_rank_t *rank);
/* A receive of a graph is there at `at`, as in message/receive.c. */
void sw_graph_received(sw_engine_t *engine, sw_request_t *receive, sw_ps_t at,
                       sw_ps_t time);
/* By LogGOPSim's rule a message will be at its rank, matched or not. */
void sw_graph_arrives(sw_engine_t *engine, sw_message_t *message);
/* A request of a graph's operation is complete at `time`. */
void sw_graph_complete(sw_engine_t *engine, sw_request_t *request,
                       sw_ps_t time);
/* The events of a graph (graph.c). */
void sw_graph_ready_node(sw_engine_t *engine, const sw_heap_event_t *event);
void sw_graph_ready_message(sw_engine_t *engine, const sw_heap_event_t *event);
void sw_graph_over_node(sw_engine_t *engine, const sw_heap_event_t *event);
void sw_graph_look(sw_engine_t *engine, const sw_heap_event_t *event);
/* What a rank waits for that does not go on. */
const sw_request_t *sw_graph_stuck(const sw_rank_t *rank);
void sw_graph_free(sw_graph_t *graph);

#endif
