/*
 * seats.h - where the members of a communicator sit in the machine, in the
 * machine's order.
 *
 * A member's seat names its node and the domains that it is bound to. Sorted by
 * these names, each part of the machine is a stretch of seats:
 *
 *     seat        0  1  2  3  4  5  6  7
 *     node        0  0  0  0  4  4  4  4   level 0: the stretch's first seat
 *     package     0  0  2  2  4  4  6  6   level 1, and so on
 *
 * Two seats are as far apart as the outermost level on which their parts
 * differ. What is not known of two members is alike, and tells them not apart.
 */
#ifndef SW_MAPPING_SEATS_H
#define SW_MAPPING_SEATS_H

#include "node/base/base.h"

/* `node`: any number that is the node's own. The others as in sw_location_t
 * (topology/location.h); -1: not known. */
typedef struct {
    int32_t node;
    int16_t package, numa, l3, core;
} sw_seat_t;

enum { SW_SEAT_LEVELS = 5 }; /* node, package, NUMA node, L3 cache, core */

/* A message pays the price of the outermost level that it crosses. Prices are
 * whole and never ascend. */
typedef struct {
    int n, levels;
    int node;         /* the level of nodes; -1: all are one */
    int *member;      /* [n]: the one there before the mapping */
    int *of;          /* [n]: the seat of a member */
    int *part;        /* [n][levels]: the first seat of its part */
    const int *price; /* [levels + 1]: the last is for no level */
} sw_seats_t;

/* Sort n members' seats, with prices of twice the weights of
 * straightway/machine/slots.py. The caller ends them with sw_seats_free. */
void sw_seats_sort(const sw_seat_t *seat, int n, sw_seats_t *to);
void sw_seats_free(sw_seats_t *seats);

/* The parts in which a seat lies, on each level. */
static inline const int *sw_seats_parts(const sw_seats_t *seats, int seat)
{
    return seats->part + (size_t)seat * (size_t)seats->levels;
}

/* The first seat of the part in which a seat lies. */
static inline int sw_seats_part(const sw_seats_t *seats, int seat, int level)
{
    return sw_seats_parts(seats, seat)[level];
}

/* The outermost level on which two seats' parts differ; `levels`: none. */
static inline int sw_seats_parting(int levels, const int *one, const int *two)
{
    int level = 0;
    while (level < levels && one[level] == two[level])
        level++;
    return level;
}

static inline int sw_seats_level(const sw_seats_t *seats, int a, int b)
{
    return sw_seats_parting(seats->levels, sw_seats_parts(seats, a),
                            sw_seats_parts(seats, b));
}

#endif
