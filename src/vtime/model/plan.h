/*
 * plan.h - how a collective is carried out, and what that costs.
 *
 * Under every plan the collective's dependencies hold: a member leaves no
 * earlier than the members that it depends on have come (sw_waits_t). So free
 * collectives are not free of waiting. Four ways to carry one out:
 *
 *   cost      a member that waits for others leaves at
 *                 max(come, come of those it waits for) + waiting
 *             and one that waits for none at come + leaving. Free is 0, 0;
 *             formulas, tables, leaders and offloaded ones come to this.
 *   messages  the steps of an algorithm (algorithm.h), each with its cost as a
 *             message, scaled.
 *   started   if it is nonblocking: in parts, which members do in their calls
 *             (started.h); the engine knows when members are in one
 *             (engine/collective/started.c).
 *
 * Offloaded to the network (CORE-Direct: Graham et al. 2010), a collective
 * costs its members `posting` of processor time and goes on by itself while
 * they compute, if it is nonblocking.
 */
#ifndef SW_VTIME_MODEL_PLAN_H
#define SW_VTIME_MODEL_PLAN_H

#include "algorithm.h"
#include "model.h"

/* The parts of a nonblocking one whose members carry it out in their calls. */
typedef struct {
    sw_ps_t shared, own;
    float aside;
    bool held;
} sw_started_plan_t;

typedef struct {
    const sw_algorithm_t *algorithm; /* NULL: by cost */
    double scale;             /* of its messages' and reductions' costs */
    sw_ps_t waiting, leaving; /* scaled already */
    sw_ps_t posting;          /* the processor's part */
    bool has_started;         /* a nonblocking one goes by these: */
    sw_ps_t start;            /* in place of `posting` */
    sw_started_plan_t started;
} sw_plan_t;

/* The plan of the collective `call` for n members, `members` of the world
 * (NULL: its first n). The plan takes from `call` what all must agree upon:
 * what, bytes, sent and received of the member with the most, and the time that
 * it has computed. The class of the farthest pair decides which link a formula
 * takes. */
void sw_plan_make(const sw_model_t *model, const sw_vop_t *call, uint32_t n,
                  const uint32_t *members, sw_plan_t *plan);

/* The same of a collective between two groups of n[0] and n[1] members, for
 * those of group `mine`. Their own group has its part, and the other has; see
 * plan_between.c. Never by messages. */
void sw_plan_between(const sw_model_t *model, const sw_vop_t *call,
                     const uint32_t n[2], const uint32_t *const members[2],
                     unsigned mine, sw_plan_t *plan);

/* The plan of a part of another collective. The rules say how it is carried
 * out, but it is neither free, scaled nor offloaded. It costs the formula of
 * its algorithm, on the link between the farthest of n members, which have
 * computed for `computed`. */
void sw_plan_part(const sw_model_t *model, const sw_call_t *call, uint32_t n,
                  const uint32_t *members, sw_ps_t computed, sw_plan_t *plan);

/* Rules: free, scale, tables, algorithms by name and size, offload. */
void sw_rules_free(sw_rules_t *rules);

#endif
