/*
 * span_way.c - see span_way.h.
 */
#include "span_way.h"

#include "node/control.h"

uint64_t sw_span_ways_hash(void)
{
    return 0;
}

/* The largest size, in bytes, that goes by the leaders, and that goes by lanes
 * where every member has one; from there on the host serves. */
typedef struct {
    size_t leaders, lanes;
} limits_t;

#define ALL SIZE_MAX

/* The collectives that have a lanes form. */
static const bool has_lanes[SW_COLL_COUNT] = {
    [SW_COLL_BARRIER] = false,
};

static const limits_t built_in[SW_COLL_COUNT] = {
    [SW_COLL_BARRIER] = {ALL, 0},
    [SW_COLL_BCAST] = {ALL, 0},
    [SW_COLL_GATHER] = {ALL, 0},
    [SW_COLL_GATHERV] = {ALL, 0},
    [SW_COLL_SCATTER] = {ALL, 0},
    [SW_COLL_SCATTERV] = {ALL, 0},
    [SW_COLL_ALLGATHER] = {ALL, 0},
    [SW_COLL_ALLGATHERV] = {ALL, 0},
    [SW_COLL_ALLTOALL] = {ALL, 0},
    [SW_COLL_ALLTOALLV] = {ALL, 0},
    [SW_COLL_ALLTOALLW] = {ALL, 0},
    [SW_COLL_REDUCE] = {ALL, 0},
    [SW_COLL_ALLREDUCE] = {ALL, 0},
    [SW_COLL_REDUCE_SCATTER] = {ALL, 0},
    [SW_COLL_REDUCE_SCATTER_BLOCK] = {ALL, 0},
    [SW_COLL_SCAN] = {ALL, 0},
    [SW_COLL_EXSCAN] = {ALL, 0},
};

void sw_span_ways_fill(sw_span_ways_t *to, const sw_span_shape_t *shape)
{
    for (int id = 0; id < SW_COLL_COUNT; id++)
        for (int c = 0; c < SW_SPAN_SIZES; c++) {
            size_t bytes = c ? (size_t)1 << (c - 1) : 0;
            to->way[id][c] =
                built_in[id].leaders && bytes <= built_in[id].leaders
                    ? SW_WAY_LEADERS
                : shape->lanes > 1 && shape->even &&
                        bytes <= built_in[id].lanes
                    ? SW_WAY_LANES : SW_WAY_HOST;
        }
}

sw_way_t sw_span_way_forced(sw_collective_t id, bool even, int lanes)
{
    switch (atomic_load_explicit(&sw_forced_way, memory_order_relaxed)) {
    case SW_FORCE_HOST:
        return SW_WAY_HOST;
    case SW_FORCE_LANES:
        return even && lanes > 1 && has_lanes[id] ? SW_WAY_LANES
                                                  : SW_WAY_LEADERS;
    default:
        return SW_WAY_LEADERS;
    }
}
