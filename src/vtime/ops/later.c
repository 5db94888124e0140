/*
 * later.c - see later.h. A rank has one collective at most that it completes
 * later. Its request has a number that programs hardly come to.
 */
#include "later.h"

#include <stdlib.h>

#define REQUEST (UINT32_MAX - 1)

typedef struct {
    bool threaded;
    bool waits; /* for REQUEST, before it does this: */
    bool has_next;
    bool ends; /* ... or ends */
    sw_vop_t next;
} rank_t;

struct sw_later {
    sw_op_source_t from;
    uint32_t collectives;
    rank_t rank[];
};

static bool computes(const sw_vop_t *op)
{
    return op->kind == SW_OP_COMPUTE || op->kind == SW_OP_SECTION ||
           op->kind == SW_OP_NOTHING;
}

static sw_source_state_t next(void *of, uint32_t number, sw_vop_t *op)
{
    sw_later_t *l = of;
    rank_t *r = &l->rank[number];
    sw_source_state_t state = SW_SOURCE_OP;
    if (r->has_next)
        *op = r->next;
    else
        state = r->ends ? SW_SOURCE_END : l->from.next(l->from.of, number, op);
    r->has_next = false;
    if (state == SW_SOURCE_LATER)
        return state;
    r->ends |= state == SW_SOURCE_END;
    if (r->waits && (r->ends || !computes(op))) {
        r->has_next = !r->ends;
        r->next = *op;
        r->waits = false;
        *op = (sw_vop_t){.kind = SW_OP_WAIT, .request = REQUEST};
        return SW_SOURCE_OP;
    }
    if (r->ends)
        return SW_SOURCE_END;
    r->threaded |= op->kind == SW_OP_THREAD;
    if (op->kind == SW_OP_COLLECTIVE && !op->request && !r->threaded &&
        l->collectives >> op->what & 1) {
        op->request = REQUEST;
        r->waits = true;
    }
    return SW_SOURCE_OP;
}

sw_later_t *sw_later_new(const sw_op_source_t *from, uint32_t ranks,
                         uint32_t collectives)
{
    sw_later_t *l = calloc(1, sizeof *l + ranks * sizeof *l->rank);
    if (!l)
        return NULL;
    l->from = *from;
    l->collectives = collectives;
    return l;
}

void sw_later_source(sw_later_t *l, sw_op_source_t *source)
{
    *source = (sw_op_source_t){.of = l, .next = next};
}

void sw_later_free(sw_later_t *l)
{
    free(l);
}
