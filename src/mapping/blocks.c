/*
 * blocks.c - the order of a lattice by nested equal boxes.
 *
 * Each level of the machine whose parts are equal cuts the box of a part into
 * as many boxes as that part has parts. All ways to cut are tried, and the
 * cheapest wins, unless they are more than BUDGET. A way that costs more than
 * the best so far is left at once.
 */
#include "lattice.h"

#include <stdlib.h>
#include <string.h>

enum { BUDGET = 20000 }; /* cuts that are looked at */
enum { LEVELS = 16 };    /* of several parts, at most */

typedef int sizes_t[SW_LATTICE_DIMS];

typedef struct {
    const sw_lattice_t *lattice;
    int levels;
    int parts[LEVELS]; /* of each part of the level above */
    int price[LEVELS];
    sizes_t size[LEVELS + 1]; /* of the boxes on each level */
    sizes_t best[LEVELS + 1];
    int64_t cost;
    int left; /* of the budget */
    bool found;
} search_t;

/* The parts below each part, where that is a number. Levels of one part are
 * left out. False: parts of one level differ. */
static bool find_levels(search_t *s, const sw_seats_t *seats)
{
    int n = seats->n, outer = n;
    for (int level = 0; level < seats->levels; level++) {
        int inner = 1;
        while (inner < n && sw_seats_part(seats, inner, level) == 0)
            inner++;
        for (int i = 0; i < n; i++)
            if (sw_seats_part(seats, i, level) != i - i % inner)
                return false;
        if (outer % inner || s->levels == LEVELS)
            return false;
        if (inner < outer) {
            s->price[s->levels] = seats->price[level];
            s->parts[s->levels++] = outer / inner;
        }
        outer = inner;
    }
    return true;
}

/* The messages between the cells of one box; without offsets, those in one
 * direction alone. */
static int64_t inside(const sw_lattice_t *g, const int *size)
{
    int64_t volume = 1, found = 0;
    for (int i = 0; i < g->offsets; i++) {
        int64_t pairs = 1;
        for (int d = 0; d < g->ndims; d++) {
            int by = abs(g->offset[i * g->ndims + d]);
            bool closed = g->periods[d] && size[d] == g->dims[d];
            pairs *= closed ? size[d] : by < size[d] ? size[d] - by : 0;
        }
        found += pairs;
    }
    if (g->offset)
        return found;
    for (int d = 0; d < g->ndims; d++)
        volume *= size[d];
    for (int d = 0; d < g->ndims; d++) {
        bool closed = g->periods[d] && size[d] == g->dims[d];
        found += volume / size[d] * (size[d] - !closed);
    }
    return found;
}

/* Cut the boxes of a level along the dimensions from d on, into so many parts.
 * `boxes` are there; `cost` is what the levels above pay. */
static void cut(search_t *s, int level, int d, int parts, int boxes,
                int64_t cost)
{
    const sw_lattice_t *g = s->lattice;
    const int *whole = s->size[level];
    int *size = s->size[level + 1];
    if (d < g->ndims) {
        for (int pieces = 1; pieces <= parts && pieces <= whole[d]; pieces++)
            if (parts % pieces == 0 && whole[d] % pieces == 0) {
                size[d] = whole[d] / pieces;
                cut(s, level, d + 1, parts / pieces, boxes, cost);
            }
        return;
    }
    if (parts > 1 || s->left-- <= 0)
        return;
    cost += (int64_t)boxes * s->price[level] *
            (inside(g, whole) - s->parts[level] * inside(g, size));
    if (s->found && cost >= s->cost)
        return;
    if (level + 1 < s->levels) {
        cut(s, level + 1, 0, s->parts[level + 1], boxes * s->parts[level],
            cost);
        return;
    }
    s->found = true;
    s->cost = cost;
    memcpy(s->best, s->size, sizeof s->best);
}

/* The i-th cell of boxes within boxes. */
static int cell_at(const search_t *s, int i)
{
    const sw_lattice_t *g = s->lattice;
    int at[SW_LATTICE_DIMS] = {0}, cell = 0, volume = g->n;
    for (int level = 0; level <= s->levels; level++) {
        /* Behind the last level: the cells of a box. */
        bool last = level == s->levels;
        int box = i, boxes = last ? volume : s->parts[level];
        volume /= boxes;
        box = i / volume;
        i %= volume;
        for (int d = g->ndims - 1; d >= 0; d--) {
            int inner = last ? 1 : s->best[level + 1][d];
            int pieces = s->best[level][d] / inner;
            at[d] += box % pieces * inner;
            box /= pieces;
        }
    }
    for (int d = 0; d < g->ndims; d++)
        cell = cell * g->dims[d] + at[d];
    return cell;
}

bool sw_lattice_blocks(const sw_lattice_t *lattice, const sw_seats_t *seats,
                       int *order)
{
    search_t s = {.lattice = lattice, .left = BUDGET};
    if (!find_levels(&s, seats) || !s.levels)
        return false;
    memcpy(s.size[0], lattice->dims, sizeof s.size[0]);
    cut(&s, 0, 0, s.parts[0], 1, 0);
    for (int i = 0; s.found && i < lattice->n; i++)
        order[i] = cell_at(&s, i);
    return s.found;
}
