/*
 * request.c - requests: known to their rank by number, or held by a strand.
 */
#include "request.h"
#include "agenda.h"
#include "channel.h"
#include "message.h"

sw_request_t *sw_request_new(sw_engine_t *engine, sw_request_kind_t kind,
                             uint32_t rank, uint32_t number)
{
    sw_request_t *request = sw_pool_take(&engine->requests);
    *request = (sw_request_t){.kind = (uint8_t)kind,
                              .rank = rank,
                              .number = number,
                              .held = number == 0};
    if (!number)
        return request;
    /* The rank uses the number again: either a thread has put its wait for the
     * old one, which frees it, or no thread waits for it. */
    sw_request_t *old = sw_request_find(engine, rank, number);
    if (old && old->awaited)
        sw_request_unnumber(engine, old);
    else if (old)
        sw_request_drop(engine, old);
    if (!sw_lookup_set(&engine->numbers, sw_request_key(rank, number), request))
        engine->memory = true;
    return request;
}

sw_request_t *sw_request_find(sw_engine_t *engine, uint32_t rank,
                              uint32_t number)
{
    return number
               ? sw_lookup_find(&engine->numbers, sw_request_key(rank, number))
               : NULL;
}

void sw_request_forget(sw_engine_t *engine, sw_request_t *request)
{
    if (request->message) {
        request->message->channel->users--;
        sw_pool_give(&engine->messages, request->message);
    }
    sw_pool_give(&engine->requests, request);
}

void sw_request_complete(sw_engine_t *engine, sw_request_t *request,
                         sw_ps_t time)
{
    sw_engine_must(engine, !request->known);
    sw_engine_must(engine, time >= request->posted);
    request->known = true;
    request->complete = time;
    if (request->kind == SW_REQUEST_RECV)
        engine->rank[request->rank].open--;
    if (sw_unlikely(request->node)) {
        engine->handlers->node_complete(engine, request, time);
        return;
    }
    sw_strand_t *waiter = request->waiter;
    if (waiter && --waiter->pending == 0)
        sw_agenda_wake(engine, waiter, time);
    if (request->listed) {
        sw_rank_t *rank = &engine->rank[request->rank];
        if (rank->state == SW_RANK_ASKS)
            sw_agenda_event(engine,
                            rank->now.what == SW_SELECT_SOME
                                ? sw_ps_max(time, rank->main.clock)
                                : time,
                            SW_EVENT_DECIDE, request->rank, 0, rank);
    }
    if (request->dropped)
        sw_request_forget(engine, request);
}

void sw_request_unnumber(sw_engine_t *engine, sw_request_t *request)
{
    if (request->number)
        sw_lookup_remove(&engine->numbers,
                         sw_request_key(request->rank, request->number));
    request->number = 0;
}

void sw_request_free(sw_engine_t *engine, sw_request_t *request)
{
    sw_request_unnumber(engine, request);
    sw_request_forget(engine, request);
}

void sw_request_drop(sw_engine_t *engine, sw_request_t *request)
{
    if (request->known) {
        sw_request_free(engine, request);
        return;
    }
    sw_request_unnumber(engine, request);
    request->dropped = true;
}
