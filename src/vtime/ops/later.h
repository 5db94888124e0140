/*
 * later.h - a source whose blocking collectives are completed later: as
 * programs would run if they started each one, computed, and waited for it
 * before their next operation. Ranks with threads that call MPI at once stay as
 * they are.
 */
#ifndef SW_VTIME_OPS_LATER_H
#define SW_VTIME_OPS_LATER_H

#include "source.h"

typedef struct sw_later sw_later_t;

/* `collectives`: a bit for each of sw_op_collective_t. NULL: no memory. */
sw_later_t *sw_later_new(const sw_op_source_t *from, uint32_t ranks,
                         uint32_t collectives);
void sw_later_source(sw_later_t *later, sw_op_source_t *source);
void sw_later_free(sw_later_t *later);

#endif
