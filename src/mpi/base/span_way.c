/*
 * span_way.c - see span_way.h.
 */
#include "span_way.h"

#include "ways_file.h"
#include "node/control.h"

/* The built-in table ---------------------------------------------------- */

/* The largest size, in bytes, that goes by the leaders. `crowded`: where a node
 * has more ranks than cores. There the hosts' ranks keep the cores from each
 * other while they wait, and members that sleep win at nearly all sizes. Else
 * only what is small, where messages count and not bytes, is sure to win.
 *
 * Gatherv and Scatterv have no size that all know.
 */
typedef struct {
    size_t free, crowded;
} limits_t;

#define ALL SIZE_MAX
#define KIB ((size_t)1 << 10)
/* The hosts send large blocks to each other member directly, which costs no
 * copy: these win where they wait kindly, and from 512 KiB on anyway. */
#define LARGE (512 * KIB - 1)
#define LARGE_KINDLY (16 * KIB)

static const limits_t built_in[SW_COLL_COUNT] = {
    [SW_COLL_BARRIER] = {ALL, ALL},
    [SW_COLL_BCAST] = {256 * KIB, ALL},
    [SW_COLL_GATHER] = {8 * KIB, ALL},
    [SW_COLL_GATHERV] = {ALL, ALL},
    [SW_COLL_SCATTER] = {8 * KIB, ALL},
    [SW_COLL_SCATTERV] = {ALL, ALL},
    [SW_COLL_ALLGATHER] = {8 * KIB, ALL},
    [SW_COLL_ALLGATHERV] = {8 * KIB, ALL},
    [SW_COLL_ALLTOALL] = {KIB, LARGE},
    [SW_COLL_ALLTOALLV] = {KIB, LARGE},
    [SW_COLL_ALLTOALLW] = {KIB, LARGE},
    [SW_COLL_REDUCE] = {64 * KIB, ALL},
    [SW_COLL_ALLREDUCE] = {64 * KIB, ALL},
    [SW_COLL_REDUCE_SCATTER] = {32 * KIB, ALL},
    [SW_COLL_REDUCE_SCATTER_BLOCK] = {32 * KIB, ALL},
    [SW_COLL_SCAN] = {16 * KIB, ALL},
    [SW_COLL_EXSCAN] = {16 * KIB, ALL},
};

/* The collectives that have a lanes form. */
static const bool has_lanes[SW_COLL_COUNT] = {
    [SW_COLL_BCAST] = true,
    [SW_COLL_ALLGATHER] = true,
    [SW_COLL_ALLGATHERV] = true,
    [SW_COLL_ALLREDUCE] = true,
};

/* The way ---------------------------------------------------------------- */

/* Lanes need nodes that all have as many members as the fullest. */
static sw_way_t able(sw_way_t way, sw_collective_t id, int ranks, int lanes)
{
    return way == SW_WAY_LANES &&
                   !(lanes == ranks && lanes > 1 && has_lanes[id])
               ? SW_WAY_LEADERS
               : way;
}

static sw_way_t built_in_way(sw_collective_t id, size_t bytes,
                             const sw_span_shape_t *shape)
{
    size_t limit = shape->crowded ? built_in[id].crowded : built_in[id].free;
    if (shape->crowded && !shape->spins && limit == LARGE)
        limit = LARGE_KINDLY;
    return limit && bytes <= limit ? SW_WAY_LEADERS : SW_WAY_HOST;
}

void sw_span_ways_fill(sw_ways_t *to, bool *any, const sw_span_shape_t *shape)
{
    const sw_ways_entry_t *entry = shape->tuned
                                       ? sw_ways_find(sw_ways_over_nodes(),
                                                      shape->nodes,
                                                      shape->ranks)
                                       : NULL;
    for (int id = 0; id < SW_COLL_COUNT; id++) {
        any[id] = false;
        for (int c = 0; c < SW_WAYS_SIZES; c++) {
            sw_way_t way = entry ? (sw_way_t)entry->form[0].way[id][c]
                                 : SW_WAY_UNSAID;
            size_t bytes = c ? (size_t)1 << (c - 1) : 0;
            to->way[id][c] = (uint8_t)(way == SW_WAY_UNSAID
                                           ? built_in_way((sw_collective_t)id,
                                                          bytes, shape)
                                           : able(way, (sw_collective_t)id,
                                                  shape->ranks, shape->lanes));
            any[id] |= to->way[id][c] != SW_WAY_HOST;
        }
    }
}

sw_way_t sw_span_way_forced(sw_collective_t id, int ranks, int lanes)
{
    int forced = atomic_load_explicit(&sw_forced_way, memory_order_relaxed);
    return able((sw_way_t)(forced - SW_FORCE_HOST), id, ranks, lanes);
}
