/*
 * idle.h - the turns of a wait that asks the host, or a request, again and
 * again.
 *
 * The first turns leave the core at once to another rank, where ranks share
 * cores. Then the turns are steps of a long wait (node/wait.h).
 */
#ifndef SW_MPI_BASE_IDLE_H
#define SW_MPI_BASE_IDLE_H

#include "node/wait.h"

typedef struct {
    sw_wait_t wait;
    unsigned turns;
} sw_idle_t;

/* No turn has ended the wait so far. It ends with, or soon after, a ring of
 * this doorbell. NULL: the host may end it, and no rank sleeps for long.
 * sw_idle_end follows the last one. */
void sw_idle(sw_idle_t *idle, sw_doorbell_t *bell);
void sw_idle_end(sw_idle_t *idle);
/* The doorbell counts only then. */
static inline bool sw_idle_is_long(const sw_idle_t *idle)
{
    return idle->turns >= 64;
}

#endif
