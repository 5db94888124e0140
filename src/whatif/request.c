/*
 * request.c - requests: known to their rank by number, or held by a strand.
 */
#include "inside.h"

sw_request_t *sw_request_new(sw_engine_t *engine, sw_request_kind_t kind,
                             uint32_t rank, uint32_t number)
{
    sw_request_t *request = sw_pool_take(&engine->requests);
    *request = (sw_request_t){.kind = (uint8_t)kind, .rank = rank,
                              .number = number, .held = number == 0};
    if (!number)
        return request;
    /* A number that is used again without a wait: nobody waits for the old. */
    sw_request_t *old = sw_request_find(engine, rank, number);
    if (old)
        sw_request_drop(engine, old);
    if (!sw_map_put(&engine->numbers, sw_request_key(rank, number), request))
        engine->memory = true;
    return request;
}

sw_request_t *sw_request_find(sw_engine_t *engine, uint32_t rank,
                              uint32_t number)
{
    return number ? sw_map_find(&engine->numbers, sw_request_key(rank, number))
                  : NULL;
}

void sw_request_complete(sw_engine_t *engine, sw_request_t *request,
                         sw_ps_t time)
{
    sw_engine_must(engine, !request->known);
    sw_engine_must(engine, time >= request->posted);
    request->known = true;
    request->complete = time;
    sw_strand_t *waiter = request->waiter;
    if (waiter && --waiter->pending == 0)
        sw_engine_ready(engine, waiter);
    if (request->listed) {
        sw_rank_t *rank = &engine->rank[request->rank];
        if (rank->state == SW_RANK_ASKS)
            sw_engine_event(engine, rank->now.what == SW_SELECT_SOME
                                        ? sw_ps_max(time, rank->main.clock)
                                        : time,
                            SW_EVENT_DECIDE, request->rank, 0, rank);
    }
    if (request->dropped)
        sw_pool_give(&engine->requests, request);
}

void sw_request_free(sw_engine_t *engine, sw_request_t *request)
{
    if (request->number)
        sw_map_remove(&engine->numbers,
                      sw_request_key(request->rank, request->number));
    sw_pool_give(&engine->requests, request);
}

/* A receive without a message is taken back: programs cancel those that they
 * do not need. All others go on to their end. */
void sw_request_drop(sw_engine_t *engine, sw_request_t *request)
{
    if (request->number)
        sw_map_remove(&engine->numbers,
                      sw_request_key(request->rank, request->number));
    request->number = 0;
    if (request->kind == SW_REQUEST_RECV && !request->message &&
        !request->known) {
        sw_match_withdraw(engine, request);
        sw_pool_give(&engine->requests, request);
    } else if (request->known) {
        sw_pool_give(&engine->requests, request);
    } else {
        request->dropped = true;
    }
}
