/*
 * ruled.h - the plans that come of lines about collectives.
 */
#ifndef RULED_H
#define RULED_H

#include "vtime/say.h"
#include "vtime/model/plan.h"

static inline sw_plan_t plan(const sw_model_t *model, sw_op_collective_t what,
                             uint64_t bytes, uint32_t n)
{
    sw_plan_t made;
    sw_vop_t op = {
        .kind = SW_OP_COLLECTIVE, .what = (uint8_t)what, .bytes = bytes};
    sw_plan_make(model, &op, n, NULL, &made);
    return made;
}

/* ns */
static inline bool costs(sw_plan_t plan, double waiting, double leaving)
{
    double w = 1000 * waiting - (double)plan.waiting;
    double l = 1000 * leaving - (double)plan.leaving;
    bool so = !plan.algorithm && w < 1.5 && w > -1.5 && l < 1.5 && l > -1.5;
    if (!so)
        fprintf(stderr, "%.3f %.3f, not %.3f %.3f\n", plan.waiting / 1e3,
                plan.leaving / 1e3, waiting, leaving);
    return so;
}

#define C(NAME) SW_COLLECTIVE_##NAME

#endif
