/*
 * moving.h - blocks that move while the program goes on: what a call's buffers
 * are to the rooms below (buffer.h, vector.h), until it has ended.
 */
#ifndef SW_MPI_COLL_MOVING_H
#define SW_MPI_COLL_MOVING_H

#include "coll/scratch.h"
#include "move.h"
#include "offload/pairs.h"

/* What this member sends, or receives. */
typedef struct {
    bool used;
    bool many;                  /* with counts of their own                 */
    sw_buffer_t one;
    sw_vbuffer_t list;
    char *at;                   /* what the blocks' offsets count from      */
    sw_blocks_t blocks;
} sw_moving_side_t;

typedef struct {
    sw_moving_side_t from, to;
    sw_data_t own;              /* this member's block in its own result    */
    sw_scratch_t room, arrays;
} sw_moving_t;

/* The datatypes of a call, for as long as it takes. *m gets arrays of counts
 * and displacements of its own: callers that convert theirs free them at
 * once. */
void sw_moving_hold(sw_moving_t *v, sw_move_t *m, int n);
void sw_moving_drop(const sw_move_t *m, int n);

/* Describes the buffers of a call, and packs what must be. *m must last as
 * long. `v` began as zeros, or was used before. */
void sw_moving_begin(sw_moving_t *v, const sw_move_t *m, const sw_comm_t *c,
                     sw_pairs_args_t *to);
/* Everything has come (`done`), or not: unpacks what must be. `comm`: for the
 * host. */
void sw_moving_end(sw_moving_t *v, MPI_Comm comm, bool done);
/* Does the host pack, or unpack? If not, the description holds for a later call
 * with the same arguments. */
bool sw_moving_packs(const sw_moving_t *v);

#endif
