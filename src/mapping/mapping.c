/*
 * mapping.c - see mapping.h.
 */
#include "mapping.h"

#include "bipartition.h"
#include "swaps.h"
#include "node/base/array.h"

#include <stdlib.h>
#include <string.h>

/* Links that swaps look at: with these 1,000 ranks take less than 1 ms. */
enum { EFFORT = 50000, GRAPH_EFFORT = 2000000 };

typedef struct {
    sw_seats_t seats;
    const sw_web_t *web;
    sw_mapping_t *told;
    int *at;     /* the best so far: the seat of a vertex */
    int *try;    /* a candidate */
    bool better; /* than the members' own order */
} choice_t;

static void begin(choice_t *c, const sw_web_t *web, const sw_seat_t *seat,
                  sw_mapping_t *told)
{
    size_t n = (size_t)web->n;
    *c = (choice_t){.web = web, .told = told};
    sw_seats_sort(seat, web->n, &c->seats);
    c->at = sw_array_zeroed(n, sizeof *c->at);
    c->try = sw_array_zeroed(n, sizeof *c->try);
    memcpy(c->at, c->seats.of, n * sizeof *c->at);
    told->cost = sw_web_cost(web, &c->seats, c->at, &told->across);
    told->cost_before = told->cost;
    told->across_before = told->across;
}

/* Does the candidate win? */
static void judge(choice_t *c)
{
    int64_t across;
    int64_t cost = sw_web_cost(c->web, &c->seats, c->try, &across);
    if (cost >= c->told->cost)
        return;
    c->told->cost = cost;
    c->told->across = across;
    c->better = true;
    memcpy(c->at, c->try, (size_t)c->web->n * sizeof *c->at);
}

static bool end(choice_t *c, int64_t effort, int *rank)
{
    int n = c->web->n;
    if (c->told->cost > 0) {
        memcpy(c->try, c->at, (size_t)n * sizeof *c->at);
        sw_swaps(c->web, &c->seats, effort, NULL, n, c->try);
        judge(c);
    }
    for (int v = 0; c->better && v < n; v++)
        rank[c->seats.member[c->at[v]]] = v;
    sw_seats_free(&c->seats);
    free(c->at);
    free(c->try);
    return c->better;
}

static void judge_machines_order(choice_t *c)
{
    for (int v = 0; v < c->web->n; v++)
        c->try[v] = v;
    judge(c);
}

bool sw_mapping_of_lattice(const sw_lattice_t *lattice, const sw_seat_t *seat,
                           int *rank, sw_mapping_t *told)
{
    sw_lattice_form_t *const forms[] = {sw_lattice_blocks,
                                        sw_lattice_hyperplane,
                                        sw_lattice_halves, sw_lattice_strips};
    sw_web_t web;
    choice_t c;
    sw_web_of_lattice(lattice, &web);
    begin(&c, &web, seat, told);
    int *order = sw_array_zeroed((size_t)web.n, sizeof *order);
    if (told->cost > 0)
        judge_machines_order(&c);
    for (size_t i = 0; told->cost > 0 && i < sizeof forms / sizeof *forms; i++)
        if (forms[i](lattice, &c.seats, order)) {
            for (int s = 0; s < web.n; s++)
                c.try[order[s]] = s;
            judge(&c);
        }
    free(order);
    bool better = end(&c, EFFORT, rank);
    sw_web_free(&web);
    return better;
}

bool sw_mapping_of_web(const sw_web_t *web, const sw_seat_t *seat, int *rank,
                       sw_mapping_t *told)
{
    choice_t c;
    begin(&c, web, seat, told);
    if (told->cost > 0) {
        judge_machines_order(&c);
        sw_bipartition(web, &c.seats, NULL, NULL, c.try);
        judge(&c);
    }
    return end(&c, GRAPH_EFFORT, rank);
}
