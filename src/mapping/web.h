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
    size_t *first; /* [n + 1] */
    int *to;
    int *amount; /* NULL: each link is 1 */
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

/* What a swap of vertices a and b saves; *effort falls by the links looked at.
 */
static inline int64_t sw_web_saving(const sw_web_t *web,
                                    const sw_seats_t *seats, const int *at,
                                    int a, int b, int64_t *effort)
{
    int64_t saved = 0;
    const int levels = seats->levels, *price = seats->price;
    for (int turn = 0; turn < 2; turn++) {
        int v = turn ? b : a, other = turn ? a : b;
        const int *now = sw_seats_parts(seats, at[v]);
        const int *then = sw_seats_parts(seats, at[other]);
        *effort -= (int64_t)(web->first[v + 1] - web->first[v]) + 1;
        for (size_t i = web->first[v]; i < web->first[v + 1]; i++) {
            int end = web->to[i];
            if (end == other)
                continue;
            const int *near = sw_seats_parts(seats, at[end]);
            saved += (int64_t)sw_web_amount(web, i) *
                     (price[sw_seats_parting(levels, now, near)] -
                      price[sw_seats_parting(levels, then, near)]);
        }
    }
    return saved;
}

/* What a placement costs; *across: the amount that crosses nodes. */
int64_t sw_web_cost(const sw_web_t *web, const sw_seats_t *seats, const int *at,
                    int64_t *across);

#endif
