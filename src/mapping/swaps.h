/*
 * swaps.h - a placement made better by swaps of two vertices.
 *
 * A vertex with a link that crosses some level tries the seats of the part in
 * which its neighbour sits. It swaps with the vertex there by which the cost
 * falls most. So a placement never gets worse.
 */
#ifndef SW_MAPPING_SWAPS_H
#define SW_MAPPING_SWAPS_H

#include "web.h"

/* at[v] is the seat of vertex v. The `count` vertices in the list (NULL: the
 * first so many) look for others. `effort`: so many links are looked at.
 * Returns what is left of it. */
int64_t sw_swaps(const sw_web_t *web, const sw_seats_t *seats, int64_t effort,
                 const int *list, int count, int *at);

#endif
