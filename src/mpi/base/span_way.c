/*
 * span_way.c - see span_way.h.
 */
#include "span_way.h"

uint64_t sw_span_ways_hash(void)
{
    return 0;
}

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
/* MPICH sends large blocks to each other member directly, which costs no copy.
 */
#ifdef OMPI_MAJOR_VERSION
#define LARGE ALL
#else
#define LARGE (512 * KIB - 1)
#endif

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

void sw_span_ways_fill(sw_span_ways_t *to, const sw_span_shape_t *shape)
{
    for (int id = 0; id < SW_COLL_COUNT; id++) {
        size_t limit = shape->crowded ? built_in[id].crowded
                                      : built_in[id].free;
        for (int c = 0; c < SW_SPAN_SIZES; c++) {
            size_t least = c ? (size_t)1 << (c - 1) : 0;
            to->way[id][c] = limit && least <= limit ? SW_WAY_LEADERS
                                                     : SW_WAY_HOST;
        }
    }
}
