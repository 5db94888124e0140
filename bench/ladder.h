/*
 * ladder.h - messages between two ranks, by each way there is: the rungs from
 * two copies to none.
 *
 *   host       the MPI's own
 *   two-copy   the sender copies into shared memory, the receiver out of it
 *   cma        the receiver's system call copies from the sender's memory
 *   one-copy   the receiver copies from the sender's memory, which it maps
 *   joint      the same, and sender and receiver copy a part each
 *   give       straightway_give and straightway_take: nobody copies
 *   remap      the receiver maps the sender's pages copy-on-write (remap.h)
 *   remap-huge the same with huge pages
 *
 * The switch of node/control.h forces the ways. The library's counts tell which
 * way the messages have really gone (p2p/slot.h). A rung that none of the first
 * messages of a cell takes is left out of the cell.
 */
#ifndef SW_BENCH_LADDER_H
#define SW_BENCH_LADDER_H

#include "remap.h"
#include "sampling.h"

/* Choose the rungs named in the plan. False: there is none, or the library does
 * not count. */
bool sw_ladder_start(void);

/* What carries the bytes, in this way of a ladder's cell? Pages: which? */
typedef enum { SW_MESSAGES, SW_BLOCKS, SW_PAGES } sw_carried_t;
sw_carried_t sw_ladder_carries(int way, const sw_remap_t **pages);

/* Fill in the ways of a cell: those that its messages take. They last until the
 * cell is left. */
void sw_ladder_climb(sw_cell_t *cell);
void sw_ladder_leave(void);

/* This process has sent so many messages that way: how did they go? */
void sw_ladder_count(int way, int messages);

/* For sw_cell_t: add up what all ranks have counted, and write it down. */
void sw_ladder_settle(void);
void sw_ladder_put(FILE *file);

#endif
