/*
 * blocks.h - the data of a collective: what each rank sends, and what must
 * arrive.
 *
 * A buffer holds one block for each rank, or each edge of a periodic grid of
 * two dimensions. The size of a cell is in bytes. For bcast, reduce,
 * allreduce, scan and exscan it is a rank's whole contribution. For gather,
 * scatter, allgather, alltoall and reduce_scatter with their variants it is
 * the block that travels between two ranks. For neighbourhood collectives it
 * is the block between neighbours in the grid.
 *
 * Elements are doubles. Operations that do not reduce may send a datatype
 * with gaps: a block is then one element of a vector, runs of `run` doubles
 * with gaps as long.
 */
#ifndef SW_BENCH_BLOCKS_H
#define SW_BENCH_BLOCKS_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

/* The blocks that `out` must contain in the end. */
typedef enum {
    SW_NOTHING,         /* no data */
    SW_ROOTS,           /* every rank but 0: rank 0's block 0 */
    SW_GATHERED,        /* rank 0: block 0 of every rank */
    SW_SCATTERED,       /* every rank: its block of rank 0 */
    SW_ALLGATHERED,     /* every rank: block 0 of every rank */
    SW_TRANSPOSED,      /* every rank: its block of every rank */
    SW_FROM_NEIGHBOURS, /* every rank: block 0 of each neighbour */
    /* every rank: a block of each neighbour, of the same dimension: which of
     * the two, hosts differ in */
    SW_MADE_FOR_ME,
    SW_SUM_AT_ROOT,
    SW_SUM,
    SW_SUM_OF_MINE,
    SW_SUM_TO_ME,
    SW_SUM_BEFORE_ME
} sw_result_t;

typedef struct {
    MPI_Comm comm, grid;
    int rank, ranks;
    int source[4];    /* in the grid: from where the blocks come */
    int blocks;       /* in a buffer: one for each rank, or edge */
    double *in, *out; /* blocks * count doubles each, and gaps */
    int count;        /* doubles in a block of this cell */
    int run;          /* so many in a row; 0: there are no gaps */
    int items;        /* elements of `type` in a block */
    MPI_Datatype type;
    int *counts, *places, *byte_places;
    MPI_Aint *addresses;
    MPI_Datatype *types;
} sw_blocks_t;

extern sw_blocks_t sw_blocks;

/* Make the buffers and the grid, on all ranks of this run. False: a rank has
 * no memory, and rank 0 has said so. */
bool sw_blocks_make(void);
void sw_blocks_drop(void);

/* Lay out the blocks of one cell and fill those to send; `run`: doubles in a
 * row, or 0. sw_blocks_clear ends the cell. */
void sw_blocks_lay(sw_result_t result, size_t size, int run);
void sw_blocks_clear(void);

/* Overwrite what earlier calls have received. */
void sw_blocks_forget(void);

/* Whether this rank has received what it must. */
bool sw_blocks_right(sw_result_t result);

/* How many blocks of this cell a rank sends, or receives. */
size_t sw_blocks_sent(sw_result_t result);
size_t sw_blocks_received(sw_result_t result);

bool sw_blocks_reduce(sw_result_t result);

#endif
