/*
 * forms.c - the closed forms cost what is known of them, and the mapping of a
 * grid no more than the cheapest of them. tests/mapping/test_solvers.py has
 * them with other stencils.
 */
#include "check.h"

/* Costs in half units: blocks (-1: does not fit), hyperplane,
 * halves, strips, the members' own order. */
static const struct {
    int ndims, dims[4], periods[4];
    nodes_t kinds[4];
    int64_t cost[5];
} known[] = {
    {2, {4, 4}, {0, 0}, {{4, 1, 1, 1, 4}}, {416, 416, 416, 416, 600}},
    {2, {8, 6}, {1, 0}, {{6, 2, 1, 1, 4}}, {1584, 1584, 1992, 1736, 2176}},
    {3,
     {6, 6, 4},
     {1, 1, 1},
     {{12, 2, 2, 1, 3}},
     {10848, 10848, 12096, 10848, 10992}},
    {2,
     {12, 10},
     {0, 1},
     {{1, 1, 1, 1, 40}, {1, 1, 1, 1, 30}, {1, 2, 1, 1, 25}},
     {-1, 1480, 2226, 1500, 1500}},
    {1, {16}, {1}, {{4, 1, 1, 1, 4}}, {216, 216, 216, 216, 216}},
    {4,
     {2, 2, 2, 2},
     {1, 0, 1, 0},
     {{4, 1, 1, 1, 4}},
     {832, 1200, 1200, 832, 1200}},
    {3,
     {10, 10, 10},
     {0, 0, 0},
     {{50, 2, 1, 2, 5}},
     {52800, 54960, 61904, 56248, 70400}},
    {2, {7, 11}, {0, 0}, {{11, 1, 1, 1, 7}}, {3492, 3492, 2940, 2664, 3768}},
    {2,
     {5, 3},
     {1, 1},
     {{1, 1, 1, 1, 8}, {1, 1, 1, 1, 7}},
     {-1, 428, 428, 428, 428}},
    {2, {3, 30}, {0, 0}, {{5, 2, 1, 1, 9}}, {996, 996, 1220, 996, 3288}},
    {3,
     {9, 8, 7},
     {1, 0, 1},
     {{10, 1, 1, 1, 48}, {1, 1, 1, 1, 24}},
     {-1, 20562, 24196, 21620, 29808}},
};

static int64_t cost_of_form(sw_lattice_form_t *form, const sw_lattice_t *g,
                            const sw_web_t *web, const sw_seat_t *seat)
{
    sw_seats_t seats;
    int *order = grab((size_t)g->n * sizeof *order);
    int *rank = grab((size_t)g->n * sizeof *rank);
    int64_t cost = -1;
    sw_seats_sort(seat, g->n, &seats);
    if (form(g, &seats, order)) {
        check_permutation(order, g->n, "form");
        for (int s = 0; s < g->n; s++)
            rank[seats.member[s]] = order[s];
        cost = cost_of(web, seat, rank);
    }
    sw_seats_free(&seats);
    free(order);
    free(rank);
    return cost;
}

int main(void)
{
    sw_lattice_form_t *const forms[] = {sw_lattice_blocks,
                                        sw_lattice_hyperplane,
                                        sw_lattice_halves, sw_lattice_strips};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int n;
        sw_lattice_t g;
        sw_web_t web;
        sw_mapping_t told;
        sw_seat_t *seat = machine(known[i].kinds, &n);
        if (!sw_lattice_of(known[i].ndims, known[i].dims, known[i].periods,
                           SW_MAPPING_MOST, &g) ||
            g.n != n)
            fail("case %zu: a grid of %d on %d seats", i, g.n, n);
        sw_web_of_lattice(&g, &web);
        int64_t least = cost_of(&web, seat, NULL);
        if (least != known[i].cost[4])
            fail("case %zu: as it is %lld", i, (long long)least);
        for (int f = 0; f < 4; f++) {
            int64_t cost = cost_of_form(forms[f], &g, &web, seat);
            if (cost != known[i].cost[f])
                fail("case %zu, form %d: %lld, not %lld", i, f, (long long)cost,
                     (long long)known[i].cost[f]);
            least = cost >= 0 && cost < least ? cost : least;
        }
        int *rank = grab((size_t)n * sizeof *rank);
        bool better = sw_mapping_of_lattice(&g, seat, rank, &told);
        check_mapping(&web, seat, better, rank, &told);
        if (told.cost > least)
            fail("case %zu: %lld, though a form has %lld", i,
                 (long long)told.cost, (long long)least);
        free(rank);
        free(seat);
        sw_web_free(&web);
    }
    return 0;
}
