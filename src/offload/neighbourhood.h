/*
 * neighbourhood.h - the neighbourhood collectives, as a schedule.
 *
 * A member posts the blocks of all its edges at once: small ones in its row,
 * large ones as memory that it lends. Where blocks differ in size or place, it
 * posts a table of them, too. A receiver copies what comes on its edges as soon
 * as each sender has posted. When it has all blocks of a sender, it sets a bit
 * of its own among that sender's ticks, however many edges join the two.
 *
 * Members without an edge between them never meet. Each receiver makes its own
 * copies: no third member helps a late one.
 *
 * A sender that has no room for what it should lend pumps the blocks of its
 * edges through its row (pump.h). Its row says so, and the receivers follow it.
 */
#ifndef SW_OFFLOAD_NEIGHBOURHOOD_H
#define SW_OFFLOAD_NEIGHBOURHOOD_H

#include "pump.h"

/* Tells which block of its sender comes on each edge of `in`: [ins], or NULL as
 * long as that is not known. A negative number: no member will know. Any thread
 * may ask. */
typedef const int *(*sw_edge_index_func_t)(void *way);

/* What a member gives. It must last until the schedule has ended, with what it
 * points to. */
typedef struct {
    sw_collective_t id;
    const sw_neighbours_t *all;
    const void *send;
    void *recv;
    sw_blocks_t sends;          /* of each edge of `out`; one, for all */
    sw_blocks_t recvs;          /* of each edge of `in` */
    sw_edge_index_func_t index; /* NULL: the one block comes */
    void *way;                  /* for `index` */
} sw_neighbourhood_args_t;

typedef struct {
    sw_schedule_t schedule;
    sw_neighbourhood_args_t args;
    int blocks;  /* that this member sends */
    size_t each; /* bytes of every block, if not `listed` */
    bool listed;
    char *packed, *table; /* what is lent, if it was made for that */
    bool pumped;          /* what should be lent */
    int edge;             /* whose block it pumps */
    sw_pump_t pump;
    int missing; /* edges on which something is to come */
    /* In the schedule's room. */
    bool *got;         /* [ins] nothing is to come, any more */
    int *owed;         /* [n] edges on which a member's is to come */
    uint64_t *readers; /* [words] those that read what is lent */
} sw_neighbourhood_t;

/* Begins one, with h->args. h->schedule began as zeros, and is kept. */
SW_API void sw_neighbourhood_begin(sw_neighbourhood_t *h, sw_slates_t *on);

#endif
