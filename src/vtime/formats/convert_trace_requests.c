/*
 * convert_trace_requests.c - what requests of a trace stand for among
 * operations; see convert_trace.h.
 *
 * One stands for a message, for a send and a receive, or for the messages of a
 * collective among neighbours: a chain of operations, by their numbers.
 */
#include "convert_trace.h"

#define SENDS ((uint64_t)1 << 32)

void sw_traced_bind(sw_convert_trace_t *c, const sw_traced_rank_t *rank,
                    uint64_t request, uint32_t operation, bool sends)
{
    uint32_t number = rank->name->number;
    uint64_t *first = sw_lookup_put(&c->requests,
                                    sw_traced_key(number, request));
    uint64_t *next = sw_lookup_put(&c->beside,
                                   sw_traced_key(number, operation));
    if (!first || !next) {
        c->memory = false;
        return;
    }
    *next = *first;
    *first = operation | (sends ? SENDS : 0);
}

/* The rank used what has come, so it waits for it; it does not wait for a send
 * that it found over. */
void sw_traced_ends(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                    const sw_trace_event_t *e, bool found, uint64_t request)
{
    uint32_t number = rank->name->number;
    uint64_t key = sw_traced_key(number, request);
    uint64_t *first = sw_lookup_get(&c->requests, key);
    uint64_t at = first ? *first : 0;
    sw_lookup_remove(&c->requests, key);
    while (at) {
        uint32_t operation = (uint32_t)at;
        bool drop = found && (at & SENDS);
        key = sw_traced_key(number, operation);
        uint64_t *next = sw_lookup_get(&c->beside, key);
        at = next ? *next : 0;
        sw_lookup_remove(&c->beside, key);
        sw_traced_wait(c, rank, e->end, operation,
                       drop ? SW_OP_DROP : SW_OP_WAIT);
    }
}
