/*
 * web.h - ranks that exchange messages, and what that costs.
 *
 * A vertex is a rank of the new communicator. Each link stands in
 * the lists of both its ends:
 *
 *     first[v] .. first[v + 1] - 1     the links of vertex v
 *     to[], amount[]                   the other end, and how heavy the link is
 *
 * A placement gives each vertex a seat. It costs the amount of each link times
 * the price of the outermost level that the link crosses.
 */
#ifndef SW_MAPPING_WEB_H
#define SW_MAPPING_WEB_H

#include "lattice.h"
#include "seats.h"

typedef struct {
    int n;
    size_t *first;              /* [n + 1]                                  */
    int *to;
    int *amount;                /* NULL: each link is 1                     */
} sw_web_t;

/* The faces of a lattice: a message in each direction along each dimension. */
void sw_web_of_lattice(const sw_lattice_t *lattice, sw_web_t *to);

/* A graph of n vertices: vertex v has the links out[begin[v]] to
 * out[begin[v + 1] - 1], with weights or (NULL) without. Links to itself and to
 * no vertex are left out, and a negative weight is taken as 0. */
SW_API void sw_web_of_graph(int n, const size_t *begin, const int *out,
                            const int *weight, sw_web_t *to);
SW_API void sw_web_free(sw_web_t *web);

static inline int sw_web_amount(const sw_web_t *web, size_t link)
{
    return web->amount ? web->amount[link] : 1;
}

/* What a placement costs; *across: the amount that crosses nodes. */
int64_t sw_web_cost(const sw_web_t *web, const sw_seats_t *seats,
                    const int *at, int64_t *across);

#endif
