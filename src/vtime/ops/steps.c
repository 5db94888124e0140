/*
 * steps.c - see steps.h.
 */
#include "steps.h"

#include "node/base/grow.h"

#include <stdlib.h>
#include <string.h>

bool sw_steps_begin(sw_steps_t *s, sw_op_file_t *ops)
{
    *s = (sw_steps_t){.ops = ops, .ranks = sw_op_ranks(ops), .memory = true};
    s->rank = calloc(s->ranks, sizeof *s->rank);
    sw_op_source(ops, &s->source);
    return s->rank != NULL;
}

void sw_steps_rewind(sw_steps_t *s)
{
    sw_op_rewind(s->ops);
    for (uint32_t i = 0; i < s->ranks; i++) {
        sw_stepper_t *r = &s->rank[i];
        sw_lookup_clear(&r->begun);
        *r = (sw_stepper_t){.begun = r->begun,
                            .run = r->run,
                            .room = r->room,
                            .changes = r->changes,
                            .change_room = r->change_room};
    }
}

void sw_steps_end(sw_steps_t *s)
{
    for (uint32_t i = 0; s->rank && i < s->ranks; i++) {
        sw_lookup_free(&s->rank[i].begun);
        free(s->rank[i].run);
        free(s->rank[i].changes);
    }
    free(s->rank);
}

static bool ends_request(const sw_vop_t *op)
{
    return op->kind == SW_OP_WAIT || op->kind == SW_OP_DROP;
}

/* Does it matter what is done here? */
static bool matters(const sw_vop_t *op)
{
    switch (op->kind) {
    case SW_OP_SEND:
    case SW_OP_RECV:
    case SW_OP_COLLECTIVE:
    case SW_OP_WAIT:
    case SW_OP_DROP:
    case SW_OP_WINDOW: return true;
    default: return false;
    }
}

static void change(sw_steps_t *s, sw_stepper_t *r, sw_step_at_t *step,
                   uint64_t section)
{
    if (!sw_grow(&r->changes, r->change_count, &r->change_room,
                 sizeof *r->changes)) {
        s->memory = false;
        return;
    }
    r->changes[r->change_count++] = (sw_change_t){step->before, step->asleep,
                                                  section};
    step->changes++;
    step->before = step->asleep = 0;
    step->section = r->section = section;
}

/* The next operation that matters, into the run. */
static bool take(sw_steps_t *s, uint32_t rank, sw_step_at_t *step)
{
    sw_stepper_t *r = &s->rank[rank];
    sw_vop_t op;
    *step = (sw_step_at_t){.section = r->section, .change = r->change_count};
    while (s->source.next(s->source.of, rank, &op) == SW_SOURCE_OP) {
        r->number++;
        if (op.kind == SW_OP_COMPUTE)
            *(op.flags ? &step->asleep : &step->before) += op.time;
        if (op.kind == SW_OP_SECTION)
            change(s, r, step, op.bytes);
        s->threads |= op.kind == SW_OP_THREAD;
        if (!matters(&op))
            continue;
        step->op = op;
        step->number = r->number;
        return true;
    }
    step->number = r->number + 1;
    r->over = true;
    return false;
}

/* It ends a request that one of these steps has begun. */
static void name(sw_steps_t *s, sw_stepper_t *r, sw_step_at_t *step)
{
    r->steps++;
    if (!step->op.request)
        return;
    if (ends_request(&step->op)) {
        uint64_t *begun = sw_lookup_get(&r->begun, step->op.request);
        step->begun = begun ? *begun : 0;
        sw_lookup_remove(&r->begun, step->op.request);
        return;
    }
    uint64_t *begun = sw_lookup_put(&r->begun, step->op.request);
    if (begun)
        *begun = r->steps;
    else
        s->memory = false;
}

static int by_begin(const void *a, const void *b)
{
    const sw_step_at_t *x = a, *y = b;
    if (x->begun != y->begun)
        return x->begun < y->begun ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* What is computed among waits stays where it is, and so do sections. */
static bool sort(sw_stepper_t *r, uint32_t n)
{
    bool sorted = true;
    for (uint32_t i = 1; i < n; i++)
        sorted &= by_begin(&r->run[i - 1], &r->run[i]) <= 0;
    if (sorted)
        return true;
    sw_step_at_t *as_it_was = malloc(n * sizeof *as_it_was);
    if (!as_it_was)
        return false;
    memcpy(as_it_was, r->run, n * sizeof *as_it_was);
    qsort(r->run, n, sizeof *r->run, by_begin);
    for (uint32_t i = 0; i < n; i++) {
        r->run[i].before = as_it_was[i].before;
        r->run[i].asleep = as_it_was[i].asleep;
        r->run[i].change = as_it_was[i].change;
        r->run[i].changes = as_it_was[i].changes;
        r->run[i].section = as_it_was[i].section;
    }
    free(as_it_was);
    return true;
}

static bool fill(sw_steps_t *s, uint32_t rank)
{
    sw_stepper_t *r = &s->rank[rank];
    uint32_t waits = 0;
    r->at = r->count = r->change_count = 0;
    do {
        if (!sw_grow(&r->run, r->count, &r->room, sizeof *r->run))
            return s->memory = false;
        sw_step_at_t *step = &r->run[r->count++];
        take(s, rank, step);
        name(s, r, step);
        waits += ends_request(&step->op);
    } while (ends_request(&r->run[r->count - 1].op));
    return sort(r, waits) || (s->memory = false);
}

bool sw_steps_next(sw_steps_t *s, uint32_t rank, sw_step_at_t *step)
{
    sw_stepper_t *r = &s->rank[rank];
    if (r->at == r->count && (r->over || !fill(s, rank)))
        return false;
    *step = r->run[r->at++];
    return true;
}

const sw_change_t *sw_steps_changes(const sw_steps_t *s, uint32_t rank,
                                    const sw_step_at_t *step)
{
    return step->changes ? s->rank[rank].changes + step->change : NULL;
}
