/*
 * live_context.h - the communicators of a running program.
 *
 * A rank has numbers of its own for its communicators. What is alike on all
 * members is the communicator's id. The engine's numbers are given here, one
 * for each id. Members that define the same one must agree on its group.
 */
#ifndef SW_VTIME_LIVE_LIVE_CONTEXT_H
#define SW_VTIME_LIVE_LIVE_CONTEXT_H

#include "node/base/base.h"

#define SW_DEFINED_NONE UINT32_MAX
/* A rank may number its communicators up to here. */
#define SW_DEFINED_MOST ((uint32_t)1 << 24)

typedef struct sw_defined sw_defined_t;

typedef enum {
    SW_DEFINED_NEW, /* the engine must hear of it */
    SW_DEFINED_KNOWN,
    SW_DEFINED_DISAGREE, /* others have said otherwise */
    SW_DEFINED_WRONG,    /* no communicator can be so */
    SW_DEFINED_MEMORY,
} sw_defined_state_t;

sw_defined_t *sw_defined_new(uint32_t ranks);
void sw_defined_free(sw_defined_t *contexts);

/* From now on `number` of this rank's is the communicator `id`; the engine's
 * number for it is written. */
sw_defined_state_t sw_defined_define(sw_defined_t *contexts, uint32_t rank,
                                     uint32_t number, uint64_t id, uint32_t n,
                                     const uint32_t *members,
                                     uint32_t *engine_number);

/* The engine's number for a rank's; SW_DEFINED_NONE: it has not defined it. */
uint32_t sw_defined_number(const sw_defined_t *contexts, uint32_t rank,
                           uint32_t number);

#endif
