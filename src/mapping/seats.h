/*
 * seats.h - where the members of a communicator sit in the machine, in the
 * machine's order.
 *
 * A member's seat names its node and the domains that it is bound to. Sorted by
 * these names, each part of the machine is a stretch of seats:
 *
 *     seat        0  1  2  3  4  5  6  7
 *     node        0  0  0  0  4  4  4  4   part[][0]: the stretch's first seat
 *     package     0  0  2  2  4  4  6  6   part[][1], and so on
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

enum { SW_SEAT_LEVELS = 5 };    /* node, package, NUMA node, L3 cache, core */

typedef struct {
    int n;
    int *member;                /* [n]: the one there before the mapping    */
    int *of;                    /* [n]: the seat of a member                */
    int (*part)[SW_SEAT_LEVELS];        /* [n]: the first seat of its part  */
} sw_seats_t;

/* Sort n members' seats. The caller ends them with sw_seats_free. */
void sw_seats_sort(const sw_seat_t *seat, int n, sw_seats_t *to);
void sw_seats_free(sw_seats_t *seats);

/* The outermost level on which two seats differ; SW_SEAT_LEVELS: none. */
static inline int sw_seats_level(const sw_seats_t *seats, int a, int b)
{
    int level = 0;
    while (level < SW_SEAT_LEVELS &&
           seats->part[a][level] == seats->part[b][level])
        level++;
    return level;
}

/* What a message pays that crosses a level: twice the weights of
 * straightway/machine/slots.py. The last entry is for none. */
extern const int sw_seats_price[SW_SEAT_LEVELS + 1];

#endif
