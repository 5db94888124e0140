/*
 * main.c - straightway-map: the solvers of `straightway map`.
 *
 *   straightway-map forms <QUESTION
 *
 * gives the closed forms of a grid that fit, as placements: the seat of each
 * rank.
 *
 *   {"blocks": [0, 1, 4, 5, ...], "hyperplane": [...], ...}
 *
 *   straightway-map search EFFORT <QUESTION
 *
 * improves placements of a graph: each by swaps (`improved`), a bipartition
 * likewise, and the best of them by groups. It looks at about EFFORT links.
 *
 *   {"improved": [[...], ...], "bipartition": [...], "regrouped": [...]}
 *
 * A question is numbers with spaces between them:
 *
 *   SEATS LEVELS NODE      NODE: the level of nodes; -1: all are one
 *   price of each level, the outermost first
 *   for each seat the number of its part on each level; parts ascend
 *
 *   of forms               DIMS OFFSETS, then the sizes, for each dimension
 *                          whether it closes, the offsets of the stencil
 *   of search              for each rank the count of its links to ranks, then
 *                          OTHER AMOUNT of each, a link at one end alone;
 *                          then how many placements, and the seats of each
 *
 * There are as many ranks as seats. Status 1, and a sentence on stderr, for a
 * question that is none.
 */
#include "regroup.h"

#include "mapping/mapping.h"
#include "mapping/swaps.h"
#include "node/base/array.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OFFSETS = 1 << 16, STARTS = 64, TRIES = 20 };

static void wrong(const char *what)
{
    fprintf(stderr, "straightway-map: %s\n", what);
    exit(1);
}

/* Reading ----------------------------------------------------------------- */

static int number(int least, int most)
{
    long value;
    if (scanf("%ld", &value) != 1 || value < least || value > most)
        wrong("a number of the question is missing or out of range");
    return (int)value;
}

static int *numbers(size_t count, int least, int most)
{
    int *to = sw_array_zeroed(count + 1, sizeof *to);
    for (size_t i = 0; i < count; i++)
        to[i] = number(least, most);
    return to;
}

static void read_seats(sw_seats_t *to)
{
    *to = (sw_seats_t){.n = number(1, SW_MAPPING_MOST),
                       .levels = number(0, 64)};
    to->node = number(-1, to->levels - 1);
    size_t levels = (size_t)to->levels;
    to->price = numbers(levels, 0, INT_MAX);
    to->part = numbers(levels * (size_t)to->n, 0, to->n - 1);
    for (size_t level = 0; level < levels; level++) {
        int last = -1, first = 0;
        for (int seat = 0; seat < to->n; seat++) {
            int *part = to->part + (size_t)seat * levels + level;
            first = *part == last ? first : seat;
            last = *part;
            *part = first;
        }
    }
}

static void read_lattice(const sw_seats_t *seats, sw_lattice_t *to)
{
    int ndims = number(0, SW_LATTICE_DIMS), offsets = number(0, OFFSETS);
    int *dims = numbers((size_t)ndims, 2, SW_MAPPING_MOST);
    int *periods = numbers((size_t)ndims, 0, 1);
    if (!sw_lattice_of(ndims, dims, periods, SW_MAPPING_MOST, to) ||
        to->n != seats->n)
        wrong("the grid has not as many cells as there are seats");
    int *offset = numbers((size_t)(offsets * ndims), -INT_MAX, INT_MAX);
    to->offset = offset;
    to->offsets = offsets;
    for (int d = 0; d < ndims; d++) {
        int64_t crossing = 0;
        for (int i = 0; i < offsets; i++)
            crossing += abs(offset[i * ndims + d]);
        to->crossing[d] = (int)sw_min((size_t)crossing, INT_MAX / 4);
    }
    free(dims);
    free(periods);
}

static void read_web(int n, sw_web_t *to)
{
    size_t *begin = sw_array_zeroed((size_t)n + 1, sizeof *begin), room = 0;
    int *out = NULL, *weight = NULL;
    for (int v = 0; v < n; v++) {
        size_t count = (size_t)number(0, n);
        begin[v + 1] = begin[v] + count;
        if (begin[v + 1] > room) {
            room = 2 * begin[v + 1];
            out = realloc(out, room * sizeof *out);
            weight = realloc(weight, room * sizeof *weight);
            if (!out || !weight)
                wrong("no memory");
        }
        for (size_t i = begin[v]; i < begin[v + 1]; i++) {
            out[i] = number(0, n - 1);
            weight[i] = number(0, INT_MAX);
        }
    }
    sw_web_of_graph(n, begin, out, weight, to);
    free(begin);
    free(out);
    free(weight);
}

static int *read_placement(int n)
{
    int *at = numbers((size_t)n, 0, n - 1);
    bool *taken = sw_array_zeroed((size_t)n, sizeof *taken);
    for (int v = 0; v < n; v++) {
        if (taken[at[v]])
            wrong("a placement has a seat twice");
        taken[at[v]] = true;
    }
    free(taken);
    return at;
}

/* Answers ---------------------------------------------------------------- */

static void put(const char *before, const int *at, int n)
{
    printf("%s[", before);
    for (int v = 0; v < n; v++)
        printf("%s%d", v ? ", " : "", at[v]);
    putchar(']');
}

static void forms(const sw_seats_t *seats)
{
    static const struct {
        const char *name;
        sw_lattice_form_t *form;
    } all[] = {{"blocks", sw_lattice_blocks},
               {"hyperplane", sw_lattice_hyperplane},
               {"halves", sw_lattice_halves},
               {"strips", sw_lattice_strips}};
    sw_lattice_t lattice;
    read_lattice(seats, &lattice);
    int *order = sw_array_zeroed((size_t)seats->n, sizeof *order);
    int *at = sw_array_zeroed((size_t)seats->n, sizeof *at);
    const char *mark = "{";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].form(&lattice, seats, order))
            continue;
        for (int seat = 0; seat < seats->n; seat++)
            at[order[seat]] = seat;
        printf("%s\"%s\": ", mark, all[i].name);
        put("", at, seats->n);
        mark = ",\n ";
    }
    puts("}");
}

static void search(const sw_seats_t *seats, int64_t effort)
{
    sw_web_t web;
    int *at[STARTS + 1], best = 0, n = seats->n;
    int64_t across, cost[STARTS + 1];
    sw_cuts_t cuts;
    read_web(n, &web);
    int starts = number(0, STARTS);
    if (!seats->levels)
        wrong("on a machine without levels all placements are alike");
    for (int i = 0; i < starts; i++)
        at[i] = read_placement(n);
    at[starts] = sw_array_zeroed((size_t)n, sizeof **at);
    sw_cuts_start(&web, &cuts);
    cuts.tries = TRIES;
    sw_bipartition(&web, seats, sw_cut, &cuts, at[starts]);
    for (int i = 0; i <= starts; i++) {
        sw_swaps(&web, seats, effort / 8, NULL, n, at[i]);
        cost[i] = sw_web_cost(&web, seats, at[i], &across);
        best = cost[i] < cost[best] ? i : best;
    }
    printf("{\"improved\": [");
    for (int i = 0; i < starts; i++)
        put(i ? ",\n " : "", at[i], n);
    put("],\n \"bipartition\": ", at[starts], n);
    sw_regroup(&web, seats, effort, &cuts, at[best]);
    put(",\n \"regrouped\": ", at[best], n);
    puts("}");
}

int main(int argc, char **argv)
{
    sw_seats_t seats;
    char *end = NULL;
    if (argc == 2 && !strcmp(argv[1], "forms")) {
        read_seats(&seats);
        forms(&seats);
        return 0;
    }
    int64_t effort = argc == 3 ? strtoll(argv[2], &end, 10) : -1;
    if (effort < 0 || *end || strcmp(argv[1], "search")) {
        fputs("usage: straightway-map forms | search EFFORT\n", stderr);
        return 2;
    }
    read_seats(&seats);
    search(&seats, effort);
    return 0;
}
