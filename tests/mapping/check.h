/*
 * check.h - machines for the tests of mappings, and what every mapping must
 * promise.
 */
#ifndef SW_TEST_MAPPING_CHECK_H
#define SW_TEST_MAPPING_CHECK_H

#include "mapping/mapping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define fail(...)                                    \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), \
     fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

static inline void *grab(size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p)
        fail("no memory");
    return p;
}

/* `nodes` equal nodes: so many packages, NUMA nodes, caches and cores, each in
 * one of the level before. */
typedef struct {
    int nodes, packages, numas, caches, cores;
} nodes_t;

static inline int node_size(nodes_t k)
{
    return k.packages * k.numas * k.caches * k.cores;
}

/* Seats of all cores of these kinds of node, the last of which has no nodes. */
static inline sw_seat_t *machine(const nodes_t *kinds, int *n)
{
    *n = 0;
    for (const nodes_t *k = kinds; k->nodes; k++)
        *n += k->nodes * node_size(*k);
    sw_seat_t *to = grab((size_t)*n * sizeof *to), *s = to;
    for (const nodes_t *k = kinds; k->nodes; k++)
        for (int i = 0; i < k->nodes * node_size(*k); i++, s++) {
            int core = i % node_size(*k), cache = core / k->cores;
            int numa = cache / k->caches, package = numa / k->numas;
            *s = (sw_seat_t){(int32_t)(s - to) - core, (int16_t)package,
                             (int16_t)numa, (int16_t)cache, (int16_t)core};
        }
    return to;
}

static inline void check_permutation(const int *list, int n, const char *what)
{
    char *seen = grab((size_t)n);
    for (int i = 0; i < n; i++) {
        if (list[i] < 0 || list[i] >= n || seen[list[i]])
            fail("%s: %d of %d is no permutation", what, i, n);
        seen[list[i]] = 1;
    }
    free(seen);
}

/* What a web costs if member m gets rank[m] (NULL: m). */
static inline int64_t cost_of(const sw_web_t *web, const sw_seat_t *seat,
                              const int *rank)
{
    int64_t across, cost;
    sw_seats_t seats;
    int *at = grab((size_t)web->n * sizeof *at);
    sw_seats_sort(seat, web->n, &seats);
    for (int m = 0; m < web->n; m++)
        at[rank ? rank[m] : m] = seats.of[m];
    cost = sw_web_cost(web, &seats, at, &across);
    sw_seats_free(&seats);
    free(at);
    return cost;
}

/* What it says it does, and no worse than the members' own order. */
static inline void check_mapping(const sw_web_t *web, const sw_seat_t *seat,
                                 bool better, const int *rank,
                                 const sw_mapping_t *told)
{
    if (better)
        check_permutation(rank, web->n, "mapping");
    int64_t before = cost_of(web, seat, NULL);
    int64_t after = better ? cost_of(web, seat, rank) : before;
    if (told->cost != after || told->cost_before != before)
        fail("it says %lld and %lld, not %lld and %lld", (long long)told->cost,
             (long long)told->cost_before, (long long)after, (long long)before);
    if (better != (after < before))
        fail("better: %d, but %lld after %lld", better, (long long)after,
             (long long)before);
}

#endif
