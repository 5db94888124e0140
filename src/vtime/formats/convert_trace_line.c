/*
 * convert_trace_line.c - the one line of a rank's operations; see
 * convert_trace.h.
 *
 * The converter puts the calls of several threads on it in the order of time:
 * each as its beginning (with a request) and its end (a wait for it). What the
 * line computes is the time in which at least one thread does. So what has
 * happened in an order can happen in it again.
 */
#include "convert_trace.h"

#include "node/base/grow.h"

/* What was computed since the last operation comes before it. */
static void put(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                const sw_vop_t *op)
{
    sw_vop_t compute = {.kind = SW_OP_COMPUTE, .time = rank->computed};
    if (rank->computed) {
        c->done->operations++;
        c->memory &= sw_op_write(c->writer, rank->name->number, &compute);
    }
    rank->computed = 0;
    if (op) {
        c->done->operations++;
        c->memory &= sw_op_write(c->writer, rank->name->number, op);
    }
}

/* Several threads: to be put in order later. */
static void put_item(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                     uint64_t when, const sw_vop_t *op, int busy)
{
    if (!sw_grow(&rank->items, rank->item_count, &rank->item_room,
                 sizeof *rank->items)) {
        c->memory = false;
        return;
    }
    sw_traced_item_t *item = &rank->items[rank->item_count];
    *item = (sw_traced_item_t){
        .when = when, .nth = rank->item_count++, .busy = busy};
    if (op)
        item->op = *op;
}

void sw_traced_emit(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                    uint64_t when, const sw_vop_t *op)
{
    if (sw_traced_several(rank))
        put_item(c, rank, when, op, 0);
    else
        put(c, rank, op);
}

void sw_traced_compute(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                       uint64_t from, uint64_t to)
{
    if (to <= from)
        return;
    if (sw_traced_several(rank)) {
        put_item(c, rank, from, NULL, 1);
        put_item(c, rank, to, NULL, -1);
        return;
    }
    rank->computed += (sw_ps_t)(sw_names_time(rank->name, to) -
                                sw_names_time(rank->name, from)) *
                      SW_PS_PER_NS;
}

/* Of several threads which was the last is known when they are in order. */
void sw_traced_section(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                       uint64_t when, uint32_t section)
{
    sw_vop_t op = {.kind = SW_OP_SECTION, .bytes = section};
    if (!c->sections.count)
        return;
    if (sw_traced_several(rank)) {
        put_item(c, rank, when, &op, 0);
    } else if (section != rank->section) {
        rank->section = section;
        put(c, rank, &op);
    }
}

uint32_t sw_traced_request(sw_traced_rank_t *rank)
{
    return rank->free_count ? rank->free_requests[--rank->free_count]
                            : ++rank->requests;
}

/* Of several threads' calls, which come one thread after the other, the order
 * in time is not yet known: there, no number is given twice. */
static void give_back(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                      uint32_t request)
{
    if (sw_traced_several(rank))
        return;
    if (sw_grow(&rank->free_requests, rank->free_count, &rank->free_room,
                sizeof *rank->free_requests))
        rank->free_requests[rank->free_count++] = request;
    else
        c->memory = false;
}

void sw_traced_wait(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                    uint64_t when, uint32_t request, sw_op_kind_t kind)
{
    sw_vop_t op = {.kind = (uint8_t)kind, .request = request};
    if (!request)
        return;
    sw_traced_emit(c, rank, when, &op);
    give_back(c, rank, request);
}

static int in_time(const void *a, const void *b)
{
    const sw_traced_item_t *x = a, *y = b;
    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    return x->nth < y->nth ? -1 : x->nth > y->nth;
}

static void put_items(sw_convert_trace_t *c, sw_traced_rank_t *rank)
{
    uint64_t last = 0;
    int busy = 0;
    if (rank->item_count)
        qsort(rank->items, rank->item_count, sizeof *rank->items, in_time);
    for (size_t i = 0; i < rank->item_count; i++) {
        const sw_traced_item_t *item = &rank->items[i];
        uint64_t now = sw_names_time(rank->name, item->when);
        if (busy > 0)
            rank->computed += (sw_ps_t)(now - last) * SW_PS_PER_NS;
        last = now;
        busy += item->busy;
        if (item->op.kind == SW_OP_SECTION) {
            if (item->op.bytes == rank->section)
                continue;
            rank->section = (uint32_t)item->op.bytes;
        }
        if (item->op.kind)
            put(c, rank, &item->op);
    }
}

/* From the last call to MPI_Finalize the rank computes, too. */
void sw_traced_finish(sw_convert_trace_t *c, sw_traced_rank_t *rank)
{
    const sw_rank_name_t *r = rank->name;
    for (uint32_t k = 0; k < r->thread_count; k++)
        if (r->threads[k].number == 0) {
            uint64_t from = rank->threads[k].begun ? rank->threads[k].end
                                                   : r->start;
            sw_traced_section(c, rank, from, 0);
            sw_traced_compute(c, rank, from,
                              r->start + (r->ticks ? r->ticks : r->ns));
        }
    if (sw_traced_several(rank))
        put_items(c, rank);
    put(c, rank, NULL);
}
