/*
 * times.h - where the ranks' time went, and what the engine counts.
 */
#ifndef SW_VTIME_ENGINE_BASE_TIMES_H
#define SW_VTIME_ENGINE_BASE_TIMES_H

#include "vtime/base/time.h"
#include "vtime/ops/op.h"

/* Where a rank's time went, all in ps; the parts sum up to `end`. */
typedef struct {
    sw_ps_t end; /* its clock after its last operation */
    sw_ps_t compute, noise;
    sw_ps_t messages;    /* in sends, receives, waits, probes, tests */
    sw_ps_t collectives; /* and waits for their requests */
    /* The time in which messages and collectives could make no progress yet.
     * The rank waited for a sender's call, or for the receiver of a message too
     * large to go without it. Or it waited for the members that a collective
     * depends on (sw_waits_t), for the holder of a lock, or for a thread. */
    sw_ps_t waiting;
} sw_rank_time_t;

/* Each part of `more`, `sign` times, on top of those of `to`. */
void sw_rank_time_add(sw_rank_time_t *to, const sw_rank_time_t *more, int sign);

typedef struct {
    sw_ps_t end; /* of the last rank */
    uint64_t operations;
    uint64_t messages, bytes; /* those of collectives by messages, too */
    /* By collective, over all ranks. */
    uint64_t calls[SW_COLLECTIVE_COUNT];
    sw_ps_t time[SW_COLLECTIVE_COUNT];
    /* Receives, probes and choices with wildcards: all, and those where the
     * engine took the host's decision as it was. */
    uint64_t wildcards, undecided;
    /* Of those undecided, how many took another message than the first. */
    uint64_t disordered;
    /* How often the engine went on without knowing all: without a silent rank,
     * or beyond a wait that its host had ended. */
    uint64_t forced;
    const sw_rank_time_t *ranks;
} sw_engine_result_t;

#endif
