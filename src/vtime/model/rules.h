/*
 * rules.h - what a model file says about collectives, as plan.c looks it up.
 *
 * A rule is a way to carry collectives out, and the calls to which it applies.
 * They are kept in the order of their lines; the last that fits a call counts.
 * Factors (`scale`) stand beside them: the last one for a collective.
 */
#ifndef SW_VTIME_MODEL_RULES_H
#define SW_VTIME_MODEL_RULES_H

#include "plan.h"
#include "spread.h"
#include "started.h"
#include "table.h"

typedef enum {
    SW_RULE_FORMULA,
    SW_RULE_MESSAGES,
    SW_RULE_MEASURED,
    SW_RULE_SPAN,
    SW_RULE_LEADERS,
    SW_RULE_OFFLOAD,
    SW_RULE_FREE,
} sw_rule_kind_t;

/* A number of bytes of one block, or of all members' together. */
typedef struct {
    uint64_t bytes;
    bool together;
} sw_bound_t;

typedef struct {
    sw_rule_kind_t kind;
    uint32_t collectives; /* a bit for each that it is for */
    sw_bound_t least_bytes, most_bytes;
    uint32_t least_ranks, most_ranks;
    bool inside;            /* only where all members share a node */
    uint32_t nodes, most;   /* of a span: only of this shape (spread.h) */
    sw_model_table_t table; /* of a span: its times */
    const char *algorithm;  /* its name */
    sw_ps_t posting, round; /* of an offloaded one */
    double byte;            /* ps */
} sw_model_rule_t;

/* The plans that plan.c has made: the same question has the same answer. */
typedef struct {
    bool known;
    sw_call_t call;
    sw_class_t farthest, inside; /* inside: of two members of a node */
    uint32_t state;              /* sw_model_state */
    sw_model_link_t link;
    double reduce;
    sw_plan_t plan;
} sw_planned_t;

#define SW_PLANNED 1024

struct sw_rules {
    sw_model_rule_t *rules;
    uint32_t count, room;
    bool spread; /* some rule asks where the members are */
    double scale[SW_COLLECTIVE_COUNT];
    sw_model_table_t tables[SW_STATES][SW_COLLECTIVE_COUNT];
    sw_started_table_t started[SW_COLLECTIVE_COUNT];
    sw_planned_t planned[SW_PLANNED];
};

/* NULL: none fits. */
const sw_model_rule_t *sw_rules_find(const sw_rules_t *rules,
                                     const sw_call_t *call);
/* Of those that say how its members carry it out as a whole: the last that is
 * neither free, offloaded nor by leaders. */
const sw_model_rule_t *sw_rules_find_part(const sw_rules_t *rules,
                                          const sw_call_t *call);

/* What sw_plan_part() says of a call whose places are known, on the link
 * between two ranks. A call of one member takes no time. */
void sw_plan_piece(const sw_model_t *model, const sw_call_t *call,
                   uint32_t from, uint32_t to, sw_ps_t computed,
                   sw_plan_t *plan);

/* A collective over several nodes by their leaders, unscaled (plan_span.c). */
void sw_plan_leaders(const sw_model_t *model, const sw_call_t *call,
                     const sw_spread_t *spread, sw_ps_t computed,
                     sw_plan_t *plan);

/* A collective that is offloaded by this rule (plan.c). */
void sw_plan_offloaded(const sw_rules_t *rules, const sw_model_rule_t *rule,
                       const sw_call_t *call, sw_plan_t *plan);

#endif
