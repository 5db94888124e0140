/*
 * source.h - where the operations of ranks come from: a file, a trace, a
 * running program.
 */
#ifndef SW_VTIME_OPS_SOURCE_H
#define SW_VTIME_OPS_SOURCE_H

#include "op.h"

typedef enum {
    SW_SOURCE_OP,    /* here it is */
    SW_SOURCE_LATER, /* the rank computes, or waits for an answer */
    SW_SOURCE_END,   /* it is over */
} sw_source_state_t;

/* The answer to a rank that asked (CLOCK, SELECT, PROBE, IPROBE, CHOOSE). */
typedef struct {
    sw_ps_t clock; /* the rank's time, after the operation */
    /* what was not found will not be there before (SW_PS_NEVER: as far as is
     * known, never) */
    sw_ps_t until;
    bool found;
    uint32_t count; /* SELECT: how many are complete */
    /* their places in the list, from 0, in the order in which they came to
     * be */
    const uint32_t *which;
    /* PROBE, IPROBE, CHOOSE: the message; a peer below 0: let the host
     * decide */
    int32_t peer, tag;
    uint32_t thread; /* that asked */
    uint64_t bytes;
} sw_op_answer_t;

typedef struct {
    void *of;
    sw_source_state_t (*next)(void *of, uint32_t rank, sw_vop_t *op);
    /* NULL: no rank asks (a trace). */
    void (*answer)(void *of, uint32_t rank, const sw_op_answer_t *answer);
} sw_op_source_t;

#endif
