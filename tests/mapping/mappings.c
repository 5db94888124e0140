/*
 * mappings.c - every mapping of a random grid or graph, on a random machine, is
 * a permutation, costs what it says, and less than none. The same question has
 * the same answer. Where the best is known, it is found.
 */
#include "check.h"
#include "must.h"

static uint64_t state = 88172645463325252u;

static int draw(int below)
{
    return (int)(random_from(&state) % (uint64_t)below);
}

/* Members on uneven nodes, in order, round robin or at random. Some are not
 * bound. */
static sw_seat_t *draw_seats(int n)
{
    nodes_t kinds[4] = {{0}};
    int all, kind = 1 + draw(3), order = draw(3);
    for (int k = 0; k < kind; k++)
        kinds[k] = (nodes_t){1 + draw(n), 1 + draw(2), 1 + draw(2), 1 + draw(2),
                             1 + draw(4)};
    sw_seat_t *whole = machine(kinds, &all);
    sw_seat_t *seat = grab((size_t)n * sizeof *seat);
    int stride = order == 1 ? node_size(kinds[0]) : 1;
    for (int m = 0; m < n; m++) {
        seat[m] = whole[order == 2 ? draw(all)
                                   : (m * stride + m * stride / all) % all];
        if (draw(8) == 0)
            seat[m].core = seat[m].l3 = -1;
    }
    free(whole);
    return seat;
}

static void try_lattice(void)
{
    int dims[5], periods[5], ndims = draw(6), n = 1, again = 0;
    for (int d = 0; d < ndims; d++) {
        dims[d] = 1 + draw(ndims < 3 ? 24 : 5);
        periods[d] = draw(2);
        n *= dims[d];
    }
    sw_lattice_t g;
    sw_web_t web;
    sw_mapping_t told, other;
    if (!sw_lattice_of(ndims, dims, periods, SW_MAPPING_MOST, &g) || g.n != n)
        fail("a grid of %d cells has %d", n, g.n);
    sw_seat_t *seat = draw_seats(n);
    int *rank = grab((size_t)n * sizeof *rank);
    int *same = grab((size_t)n * sizeof *same);
    bool better = sw_mapping_of_lattice(&g, seat, rank, &told);
    again = sw_mapping_of_lattice(&g, seat, same, &other);
    if (again != better || memcmp(rank, same, (size_t)n * sizeof *rank))
        fail("two answers to one question");
    sw_web_of_lattice(&g, &web);
    check_mapping(&web, seat, better, rank, &told);
    sw_web_free(&web);
    free(seat);
    free(rank);
    free(same);
}

static void try_graph(void)
{
    int n = 1 + draw(60), per = draw(6), links = 0;
    size_t *begin = grab(((size_t)n + 1) * sizeof *begin);
    int *out = grab((size_t)(n * per + 1) * sizeof *out);
    int *weight = grab((size_t)(n * per + 1) * sizeof *weight);
    for (int v = 0; v < n; v++) {
        for (int i = per ? draw(per + 1) : 0; i > 0; i--) {
            out[links] = draw(20) ? draw(n) : draw(3) - n;
            weight[links++] = draw(10) ? draw(1000) : -1;
        }
        begin[v + 1] = (size_t)links;
    }
    sw_web_t web;
    sw_mapping_t told;
    sw_web_of_graph(n, begin, out, draw(2) ? weight : NULL, &web);
    sw_seat_t *seat = draw_seats(n);
    int *rank = grab((size_t)n * sizeof *rank);
    bool better = sw_mapping_of_web(&web, seat, rank, &told);
    check_mapping(&web, seat, better, rank, &told);
    sw_web_free(&web);
    free(begin);
    free(out);
    free(weight);
    free(seat);
    free(rank);
}

/* Rings of four members, dealt over nodes of four round robin: no message need
 * cross a node. */
static void bring_rings_together(int nodes)
{
    int n = 4 * nodes;
    size_t *begin = grab(((size_t)n + 1) * sizeof *begin);
    int *out = grab((size_t)n * sizeof *out);
    int *rank = grab((size_t)n * sizeof *rank);
    sw_seat_t *seat = grab((size_t)n * sizeof *seat);
    for (int v = 0; v < n; v++) {
        begin[v + 1] = (size_t)v + 1;
        out[v] = v / 4 * 4 + (v + 1) % 4;
        seat[v] = (sw_seat_t){v % nodes, -1, -1, -1, -1};
    }
    sw_web_t web;
    sw_mapping_t told;
    sw_web_of_graph(n, begin, out, NULL, &web);
    bool better = sw_mapping_of_web(&web, seat, rank, &told);
    check_mapping(&web, seat, better, rank, &told);
    if (nodes > 1 && (told.across || !told.across_before))
        fail("%d rings: %lld of %lld links cross", nodes,
             (long long)told.across, (long long)told.across_before);
    sw_web_free(&web);
    free(begin);
    free(out);
    free(rank);
    free(seat);
}

int main(void)
{
    for (int i = 0; i < 1500; i++) {
        try_lattice();
        try_graph();
    }
    for (int nodes = 1; nodes < 40; nodes++)
        bring_rings_together(nodes);
    sw_lattice_t g;
    int large[] = {1 << 12, 1 << 12}, zero[] = {3, 0}, twos[9];
    for (int d = 0; d < 9; d++)
        twos[d] = 2;
    if (sw_lattice_of(2, large, large, SW_MAPPING_MOST, &g) ||
        sw_lattice_of(2, zero, zero, SW_MAPPING_MOST, &g) ||
        sw_lattice_of(9, twos, twos, SW_MAPPING_MOST, &g))
        fail("a grid that none can map");
    return 0;
}
