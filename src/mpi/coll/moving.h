/*
 * moving.h - blocks that move: what a call's buffers are to the rooms below
 * (buffer.h, vector.h), until it has ended.
 */
#ifndef SW_MPI_COLL_MOVING_H
#define SW_MPI_COLL_MOVING_H

#include "call.h"

/* What this member sends, or receives. */
typedef struct {
    int form; /* SW_HALF_* */
    union {
        sw_buffer_t one;   /* rows */
        sw_vbuffer_t list; /* of a list */
    };
} sw_moving_side_t;

typedef struct {
    sw_moving_side_t from, to;
    sw_data_t own;       /* this member's block in its own result */
    sw_scratch_t room;   /* for the blocks' description */
    sw_scratch_t arrays; /* ... and for what the call gave */
} sw_moving_t;

/* The datatypes of a call, for as long as it takes. *m gets arrays of counts
 * and displacements of its own: callers that convert theirs free them at
 * once. */
void sw_moving_hold(sw_moving_t *v, sw_move_t *m, int n);
void sw_moving_drop(const sw_move_t *m, int n);

/* Describes the buffers of a call on `comm`, and packs what must be. *k must
 * last as long. `v` began as zeros, or was used before. */
void sw_moving_begin(sw_moving_t *v, sw_coll_call_t *k, MPI_Comm comm,
                     sw_coll_move_t *to);
/* Everything has come (`done`), or not: unpacks what must be. `comm`: for the
 * host. */
void sw_moving_end(sw_moving_t *v, MPI_Comm comm, bool done);
/* Does the host pack, or unpack? If not, the description holds for a later call
 * with the same arguments. */
bool sw_moving_packs(const sw_moving_t *v);

#endif
