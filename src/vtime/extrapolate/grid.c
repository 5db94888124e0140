/*
 * grid.c - see grid.h.
 */
#include "grid.h"

#include <math.h>
#include <stdlib.h>

#define DIMENSIONS SW_GRID_DIMENSIONS

int sw_grid_dimensions(const sw_grid_t *grid)
{
    int n = 1;
    for (int d = 1; d < DIMENSIONS; d++)
        n += grid->side[d] > 1;
    return n;
}

sw_grid_t *sw_grids_of(uint32_t n, uint32_t *count)
{
    sw_grid_t *grids = malloc(sizeof *grids);
    if (!grids)
        return NULL;
    grids[0] = (sw_grid_t){{n, 1, 1}};
    *count = 1;
    for (int dimensions = 2; dimensions <= DIMENSIONS; dimensions++)
        for (uint32_t a = 2; a <= n / 2; a++) {
            uint32_t left = n % a ? 0 : n / a;
            for (uint32_t b = dimensions > 2 ? 2 : left;
                 left && b <= (dimensions > 2 ? left / 2 : left); b++) {
                if (left % b)
                    continue;
                sw_grid_t *to = realloc(grids, (*count + 1) * sizeof *to);
                if (!to) {
                    free(grids);
                    return NULL;
                }
                grids = to;
                grids[(*count)++] = (sw_grid_t){{a, b, left / b}};
            }
        }
    return grids;
}

static void place(const sw_grid_t *grid, uint32_t rank, uint32_t *at)
{
    for (int d = 0; d < DIMENSIONS; d++) {
        at[d] = rank % grid->side[d];
        rank /= grid->side[d];
    }
}

sw_grid_way_t sw_grid_way(const sw_grid_t *grid, uint32_t from, uint32_t to)
{
    uint32_t a[DIMENSIONS], b[DIMENSIONS];
    sw_grid_way_t way;
    place(grid, from, a);
    place(grid, to, b);
    for (int d = 0; d < DIMENSIONS; d++)
        way.step[d] = (b[d] + grid->side[d] - a[d]) % grid->side[d];
    return way;
}

bool sw_grid_half_way(const sw_grid_t *grid, const sw_grid_way_t *way)
{
    for (int d = 0; d < DIMENSIONS; d++)
        if (way->step[d] && 2 * (uint64_t)way->step[d] == grid->side[d])
            return true;
    return false;
}

bool sw_grid_like(const sw_grid_t *grid, uint32_t n, sw_grid_t *like,
                  bool *memory)
{
    uint32_t count, ranks = grid->side[0] * grid->side[1] * grid->side[2];
    int dimensions = sw_grid_dimensions(grid);
    double best = INFINITY, grown = log((double)n / ranks) / dimensions;
    sw_grid_t *grids = sw_grids_of(n, &count);
    *memory = grids != NULL;
    for (uint32_t i = 0; grids && i < count; i++) {
        double far = 0;
        for (int d = 0; d < dimensions; d++) {
            double by = log((double)grids[i].side[d] / grid->side[d]) - grown;
            far += by * by;
        }
        if (sw_grid_dimensions(&grids[i]) == dimensions && far < best) {
            best = far;
            *like = grids[i];
        }
    }
    free(grids);
    return best < INFINITY;
}

/* On a side of n so far forth, the same on one of m. */
static uint32_t shift(uint32_t at, uint32_t far, uint32_t n, uint32_t m)
{
    uint64_t to = 2 * (uint64_t)far > n ? (uint64_t)at + m - (n - far) % m
                                        : (uint64_t)at + far;
    return (uint32_t)(to % m);
}

uint32_t sw_grid_partner(const sw_grid_t *grid, const sw_grid_way_t *way,
                         const sw_grid_t *other, uint32_t rank)
{
    uint32_t at[DIMENSIONS], to = 0;
    place(other, rank, at);
    for (int d = DIMENSIONS - 1; d >= 0; d--)
        to = to * other->side[d] +
             shift(at[d], way->step[d], grid->side[d], other->side[d]);
    return to;
}
