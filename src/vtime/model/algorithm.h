/*
 * algorithm.h - collectives as compositions of messages.
 *
 * An algorithm is what each member does, step by step. In a step it sends to
 * one member and receives from one (or does only one of both), waits for both,
 * and reduces what it has received, or copies it. One small file each
 * (algorithm_binomial.c, ...), with its closed formula and its source.
 */
#ifndef SW_VTIME_MODEL_ALGORITHM_H
#define SW_VTIME_MODEL_ALGORITHM_H

#include "vtime/ops/op.h"

#define SW_STEP_NOBODY UINT32_MAX

typedef struct {
    uint32_t to, from;          /* members, or SW_STEP_NOBODY */
    uint64_t sent, received;    /* bytes */
    uint64_t reduced;           /* bytes, when both are done */
} sw_step_t;

/* The collective at hand. */
typedef struct {
    sw_op_collective_t what;
    uint32_t n, root;           /* members; the root's number (0 without) */
    uint64_t bytes;             /* one block, as in op.h */
    uint32_t first;             /* two groups: members of the first; else 0 */
} sw_call_t;

typedef struct {
    const char *name;           /* as in a model file: "recursive_doubling" */
    /* Step `k` of member `me`, from 0; false: it is done. */
    bool (*step)(const sw_call_t *call, uint32_t me, uint32_t k,
                 sw_step_t *step);
    /* Time until the last member is done, all coming together, with `round`
     * the time of an empty message, `byte` of a byte and `reduce` of reducing
     * one, in ps (Thakur, Rabenseifner, Gropp 2005, their alpha, beta,
     * gamma). */
    double (*formula)(const sw_call_t *call, double round, double byte,
                      double reduce);
} sw_algorithm_t;

/* Between two groups, message by message: all members of one talk to all of
 * the other. For files that know no groups; it has no formula. A root of
 * SW_STEP_NOBODY: the member has no part. */
extern const sw_algorithm_t sw_between_linear;

/* NULL: this collective has no algorithm of that name. */
const sw_algorithm_t *sw_algorithm_named(sw_op_collective_t what,
                                         const char *name);
/* The names for a collective, up to NULL. */
const char *const *sw_algorithm_names(sw_op_collective_t what);

#endif
