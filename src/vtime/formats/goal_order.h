/*
 * goal_order.h - a rank of GOAL: the graph that goal_read.c makes of its text,
 * and its operations in one order (goal_order.c).
 */
#ifndef SW_VTIME_FORMATS_GOAL_ORDER_H
#define SW_VTIME_FORMATS_GOAL_ORDER_H

#include "convert.h"

typedef struct {
    uint8_t kind; /* sw_op_kind_t */
    uint16_t cpu;
    bool issued, over; /* over: waited for */
    int32_t peer, tag;
    uint64_t size;
    uint64_t line;
    uint32_t unissued;     /* of what it names, not yet begun */
    uint32_t waits;        /* messages it requires, not yet over */
    uint32_t successors;   /* the first edge to another, and 1 */
    uint32_t predecessors; /* and from another */
    uint32_t request;
} sw_goal_node_t;

/* `to` requires what the edge hangs at; `over`: its end, not its beginning. */
typedef struct {
    uint32_t from, to, next, next_in;
    bool over;
} sw_goal_edge_t;

typedef struct {
    const char *path;
    sw_op_writer_t *writer;
    sw_converted_t *done;
    bool file_order, graph;
    bool cpus; /* there are several */
    uint32_t rank;
    sw_goal_node_t *nodes;
    uint32_t node_count, node_room;
    sw_goal_edge_t *edges;
    uint32_t edge_count, edge_room;
} sw_goal_graph_t;

/* False, and a sentence on stderr. */
bool sw_goal_no_memory(const char *path);

/* Writes the operations: a sequence, or a partial order where no sequence has
 * the same meaning. False, and a sentence: a circle, no memory, no room. */
bool sw_goal_put_rank(const sw_goal_graph_t *graph);

#endif
