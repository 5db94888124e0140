/*
 * lattice.h - a Cartesian grid, and closed forms: orders in which its cells
 * fill the seats of a machine.
 *
 * Cells are numbered as MPI_Cart_create does, the last dimension fastest. The
 * i-th cell of an order takes the i-th seat. Seats that lie close together
 * stand together, so an order is good if each stretch of it is a compact part
 * of the grid:
 *
 *     blocks      equal boxes, nested as the machine is: on each level the
 *                 division with the fewest messages across (Gropp, Using Node
 *                 Information to Implement MPI Cartesian Topologies, 2018, has
 *                 it for two levels)
 *     hyperplane  planes between the machine's parts (this and the next two:
 *                 Hunold et al., Efficient Process-to-Node Mapping Algorithms
 *                 for Stencil Computations, CLUSTER 2020)
 *     halves      planes through the middle, whatever the parts (k-d tree)
 *     strips      strips about as wide as a node's cube, walked there and back
 *
 * All arithmetic is whole, so every member gets the same order.
 */
#ifndef SW_MAPPING_LATTICE_H
#define SW_MAPPING_LATTICE_H

#include "seats.h"

enum { SW_LATTICE_DIMS = 8 };

/* Dimensions of size 1 are left out. n is the product of the others. */
typedef struct {
    int n, ndims;
    int dims[SW_LATTICE_DIMS];
    bool periods[SW_LATTICE_DIMS];
    /* A cell sends a message to the cell at each offset, [offsets][ndims].
     * NULL: one step each way along each dimension. */
    const int *offset;
    int offsets;
    int crossing[SW_LATTICE_DIMS]; /* messages of a cell through a plane */
} sw_lattice_t;

/* Twice `crossing`; 1 in a dimension through whose planes no message goes. */
static inline int sw_lattice_load(const sw_lattice_t *g, int d)
{
    return g->crossing[d] ? 2 * g->crossing[d] : 1;
}

/* Is a box of this size longer in one dimension than in another, by the
 * messages through its planes? */
static inline bool sw_lattice_is_longer(const sw_lattice_t *g, const int *size,
                                        int one, int other)
{
    return (int64_t)size[one] * sw_lattice_load(g, other) >
           (int64_t)size[other] * sw_lattice_load(g, one);
}

/* A grid as MPI describes it. False: it has no cell, too many dimensions, or
 * more cells than `most`. */
SW_API bool sw_lattice_of(int ndims, const int *dims, const int *periods,
                          int most, sw_lattice_t *to);

/* Fill the order, n cells. False: the form does not fit. */
typedef bool sw_lattice_form_t(const sw_lattice_t *lattice,
                               const sw_seats_t *seats, int *order);
sw_lattice_form_t sw_lattice_blocks, sw_lattice_hyperplane, sw_lattice_halves,
    sw_lattice_strips;

/* A box of a lattice: from begin to before end in each dimension. */
typedef struct {
    int begin[SW_LATTICE_DIMS], end[SW_LATTICE_DIMS];
} sw_lattice_box_t;

sw_lattice_box_t sw_lattice_whole(const sw_lattice_t *lattice);
int sw_lattice_volume(const sw_lattice_t *lattice, const sw_lattice_box_t *box);
/* Write the cells of a box, line by line, the dimension with the fewest
 * messages slowest; each line runs against the one before. Returns how many. */
int sw_lattice_snake(const sw_lattice_t *lattice, const sw_lattice_box_t *box,
                     int *to);

#endif
