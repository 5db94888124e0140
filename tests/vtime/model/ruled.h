/*
 * ruled.h - lines about collectives, and the plans that come of them.
 */
#ifndef RULED_H
#define RULED_H

#include "must.h"
#include "vtime/model/model_file.h"
#include "vtime/model/plan.h"

#include <string.h>

static char why[1024];

/* What is wrong with a line, or NULL. */
static inline const char *line(sw_model_t *model, const char *text)
{
    static char copy[1024];
    char *word[64], *rest = copy;
    int words = 0;
    MUST(strlen(text) < sizeof copy);
    strcpy(copy, text);
    for (char *at; (at = strtok_r(rest, " ", &rest));)
        word[words++] = at;
    return sw_rules_line(model, words, word, why, sizeof why);
}

static inline void say(sw_model_t *model, const char *text)
{
    const char *wrong = line(model, text);
    if (wrong)
        fprintf(stderr, "%s: %s\n", text, wrong);
    MUST(!wrong);
}

static inline sw_plan_t plan(const sw_model_t *model, sw_op_collective_t what,
                      uint64_t bytes, uint32_t n)
{
    sw_plan_t made;
    sw_vop_t op = {.kind = SW_OP_COLLECTIVE, .what = (uint8_t)what,
                   .bytes = bytes};
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
