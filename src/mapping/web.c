/*
 * web.c - see web.h.
 */
#include "web.h"

#include "node/base/array.h"

#include <stdlib.h>

/* The neighbour of a cell along one dimension; -1: there is none, or the cell
 * itself. */
static int beside(const sw_lattice_t *g, int cell, int d, int stride, int by)
{
    int size = g->dims[d], at = cell / stride % size, next = at + by;
    if (next < 0 || next >= size) {
        if (!g->periods[d])
            return -1;
        next = (next + size) % size;
    }
    return next == at ? -1 : cell + (next - at) * stride;
}

void sw_web_of_lattice(const sw_lattice_t *g, sw_web_t *to)
{
    size_t n = (size_t)g->n, links = 0;
    *to = (sw_web_t){.n = g->n};
    to->first = sw_array_zeroed(n + 1, sizeof *to->first);
    to->to = sw_array_zeroed(2 * n * (size_t)g->ndims + 1, sizeof *to->to);
    for (int cell = 0; cell < g->n; cell++) {
        to->first[cell] = links;
        for (int d = g->ndims - 1, stride = 1; d >= 0; stride *= g->dims[d--])
            for (int by = -1; by <= 1; by += 2) {
                int other = beside(g, cell, d, stride, by);
                if (other >= 0)
                    to->to[links++] = other;
            }
    }
    to->first[n] = links;
}

static bool counts(int n, int v, int other)
{
    return other >= 0 && other < n && other != v;
}

void sw_web_of_graph(int n, const size_t *begin, const int *out,
                     const int *weight, sw_web_t *to)
{
    size_t count = (size_t)n;
    *to = (sw_web_t){.n = n};
    to->first = sw_array_zeroed(count + 2, sizeof *to->first);
    for (int v = 0; v < n; v++)
        for (size_t i = begin[v]; i < begin[v + 1]; i++)
            if (counts(n, v, out[i])) {
                to->first[v + 2]++;
                to->first[out[i] + 2]++;
            }
    for (size_t v = 2; v < count + 2; v++)
        to->first[v] += to->first[v - 1];
    size_t links = to->first[count + 1];
    to->to = sw_array_zeroed(links + 1, sizeof *to->to);
    if (weight)
        to->amount = sw_array_zeroed(links + 1, sizeof *to->amount);
    /* first[v + 1] runs from where v's links begin to where they end. */
    for (int v = 0; v < n; v++)
        for (size_t i = begin[v]; i < begin[v + 1]; i++)
            for (int end = 0; end < 2 && counts(n, v, out[i]); end++) {
                size_t at = to->first[(end ? out[i] : v) + 1]++;
                to->to[at] = end ? v : out[i];
                if (weight)
                    to->amount[at] = weight[i] > 0 ? weight[i] : 0;
            }
}

void sw_web_free(sw_web_t *web)
{
    free(web->first);
    free(web->to);
    free(web->amount);
}

int64_t sw_web_cost(const sw_web_t *web, const sw_seats_t *seats, const int *at,
                    int64_t *across)
{
    int64_t cost = 0;
    *across = 0;
    for (int v = 0; v < web->n; v++)
        for (size_t i = web->first[v]; i < web->first[v + 1]; i++) {
            int level = sw_seats_level(seats, at[v], at[web->to[i]]);
            int64_t amount = sw_web_amount(web, i);
            cost += amount * seats->price[level];
            *across += level == 0 ? amount : 0;
        }
    return cost;
}
