/*
 * grid.h - ranks on a ring, or on a grid of two or three dimensions that wraps
 * around (a torus). Partners are equally far from all ranks.
 */
#ifndef SW_VTIME_EXTRAPOLATE_GRID_H
#define SW_VTIME_EXTRAPOLATE_GRID_H

#include "node/base/base.h"

#define SW_GRID_DIMENSIONS 3

/* Sides are 1 behind the last dimension; neighbours on the first are ranks
 * that follow each other. */
typedef struct {
    uint32_t side[SW_GRID_DIMENSIONS];
} sw_grid_t;

/* Steps forth in each dimension. */
typedef struct {
    uint32_t step[SW_GRID_DIMENSIONS];
} sw_grid_way_t;

/* All grids of n ranks: the ring first, then those of two dimensions, of
 * three. To be freed; NULL: no memory. */
sw_grid_t *sw_grids_of(uint32_t n, uint32_t *count);
int sw_grid_dimensions(const sw_grid_t *grid);
/* The way from a rank to another. */
sw_grid_way_t sw_grid_way(const sw_grid_t *grid, uint32_t from, uint32_t to);
/* Is it half a side: as far forth as back? */
bool sw_grid_half_way(const sw_grid_t *grid, const sw_grid_way_t *way);
/* The grid of n ranks whose sides have about the same ratios. False: n ranks
 * make no grid of as many dimensions, or (*memory) memory is out. */
bool sw_grid_like(const sw_grid_t *grid, uint32_t n, sw_grid_t *like,
                  bool *memory);
/* The partner that way from a rank on the other grid: back is back. */
uint32_t sw_grid_partner(const sw_grid_t *grid, const sw_grid_way_t *way,
                         const sw_grid_t *other, uint32_t rank);

#endif
