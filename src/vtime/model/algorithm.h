/*
 * algorithm.h - collectives as compositions of messages.
 *
 * An algorithm is what each member does, step by step. In a step a member sends
 * to one member and receives from one, or does only one of both. It waits for
 * both, and reduces or copies what it has received. algorithm.c has the table
 * of all; each family is one small file (algorithm_binomial.c, ...) with its
 * closed formula and its source.
 */
#ifndef SW_VTIME_MODEL_ALGORITHM_H
#define SW_VTIME_MODEL_ALGORITHM_H

#include "vtime/ops/op.h"

#define SW_STEP_NOBODY UINT32_MAX

typedef struct {
    uint32_t to, from;       /* members, or SW_STEP_NOBODY */
    uint64_t sent, received; /* bytes */
    uint64_t reduced;        /* bytes, when both are done */
} sw_step_t;

/* The collective at hand. */
typedef struct {
    sw_op_collective_t what;
    uint32_t n, root; /* members; the root's number (0 without) */
    uint64_t bytes;   /* one block, as in op.h */
    uint32_t first;   /* two groups: members of the first; else 0 */
    uint32_t segment; /* set by the algorithm: see below */
    /* of the members, and the members on the fullest; 0: the rules do not ask
     * (spread.h) */
    uint32_t nodes, most;
} sw_call_t;

/* Writes step `k` of member `me`, from 0, into a step in which the member does
 * nothing. False: the member is done. */
typedef bool sw_step_func_t(const sw_call_t *call, uint32_t me, uint32_t k,
                            sw_step_t *step);
/* Time until the last member is done, all coming together: an empty message
 * takes alpha, each byte beta, reducing a byte gamma, in ps (Thakur,
 * Rabenseifner, Gropp 2005). */
typedef double sw_takes_func_t(const sw_call_t *call, double alpha, double beta,
                               double gamma);

/* How an algorithm is made of a step and a formula. */
#define SW_ALGORITHM_EMPTY 1u   /* the messages have no data */
#define SW_ALGORITHM_REDUCES 2u /* a member reduces all that it receives */

typedef struct {
    const char *name;     /* as in a model file: "recursive_doubling" */
    uint32_t collectives; /* a bit for each that it carries out */
    sw_step_func_t *step;
    sw_takes_func_t *takes;
    unsigned how;
    uint32_t segment; /* bytes of a message, at most; 0: any */
} sw_algorithm_t;

/* A step of a member, as sw_step_func_t says. */
bool sw_algorithm_step(const sw_algorithm_t *algorithm, const sw_call_t *call,
                       uint32_t me, uint32_t k, sw_step_t *step);
/* The closed formula, as sw_takes_func_t says. */
double sw_algorithm_takes(const sw_algorithm_t *algorithm,
                          const sw_call_t *call, double alpha, double beta,
                          double gamma);

/* Between two groups, message by message: each member of one talks to all of
 * the other. It serves files that know no groups, and has no formula. A root of
 * SW_STEP_NOBODY: the member has no part. */
extern const sw_algorithm_t sw_between_linear;

/* NULL: this collective has no algorithm of that name. */
const sw_algorithm_t *sw_algorithm_named(sw_op_collective_t what,
                                         const char *name);
/* The names for a collective, up to NULL. The first is the usual one. */
const char *const *sw_algorithm_names(sw_op_collective_t what);

#endif
