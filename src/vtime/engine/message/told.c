/*
 * told.c - the host of a running program has matched a receive with
 * MPI_ANY_SOURCE, and tells the engine which message the receive has taken.
 *
 * Mostly the receive is undecided then, and becomes one that names its sender.
 * But the engine may have had to decide before, and have taken another message.
 * Then the two change places. The program goes on with the message that the
 * host gave it; the other must remain for a receive that asks for it by name.
 * The time that was charged stays.
 */
#include "told.h"
#include "match.h"
#include "vtime/engine/base/channel.h"

static void give_back(sw_engine_t *engine, sw_rank_t *rank,
                      const sw_decided_t *d)
{
    sw_message_t *back = sw_pool_take(&engine->messages);
    *back = (sw_message_t){
        .channel = sw_channel_find(engine, rank->main.rank, (uint32_t)d->peer,
                                   d->context),
        .tag = d->tag,
        .known = true,
        .bytes = d->bytes,
        .began = d->began,
        .arrival = d->arrival,
        .receive_time = d->receive_time,
        .scale = 1,
    };
    back->channel->users++;
    sw_match_return(engine, back);
}

/* The message that it has in truth is gone. */
static void take_other(sw_engine_t *engine, sw_rank_t *rank,
                       const sw_decided_t *d, const sw_vop_t *op)
{
    sw_request_t *r = sw_request_new(engine, SW_REQUEST_RECV, rank->main.rank,
                                     0);
    r->held = false;
    r->dropped = true;
    r->posted = rank->main.clock;
    r->peer = op->peer;
    r->tag = op->tag;
    r->context = d->context;
    sw_match_receive(engine, r);
}

/* The rank waits for a receive whose message the engine has given to another of
 * its receives. But the rank has gone on in its host, so the host did not. The
 * rank will tell later what the other has got. True: it was so. */
bool sw_told_match_doubt(sw_engine_t *engine, sw_rank_t *rank)
{
    const sw_request_t *r = rank->waits;
    sw_decided_t *wrong = NULL;
    uint64_t first = UINT64_MAX;
    if (!r || r->known || r->kind != SW_REQUEST_RECV || r->message || r->any)
        return false;
    for (size_t i = 0; i < engine->decided.room; i++) {
        const sw_lookup_entry_t *e = &engine->decided.entries[i];
        uint64_t key = e->key - 1;
        sw_decided_t *d = (sw_decided_t *)(uintptr_t)e->value;
        if (e->key && key >> 32 == rank->main.rank && key < first &&
            !d->returned && d->context == r->context && d->peer == r->peer &&
            (r->tag == SW_OP_ANY || r->tag == d->tag)) {
            first = key;
            wrong = d;
        }
    }
    if (!wrong)
        return false;
    wrong->returned = true;
    engine->result.undecided++;
    engine->result.disordered++;
    give_back(engine, rank, wrong);
    return true;
}

void sw_match_told(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op)
{
    uint64_t key = sw_request_key(rank->main.rank, op->request);
    sw_request_t *r = sw_request_find(engine, rank->main.rank, op->request);
    if (op->peer < 0 || (uint32_t)op->peer >= engine->ranks) {
        sw_engine_wrong(engine, rank->main.rank,
                        "a receive matched with rank %d, which there is not",
                        op->peer);
        return;
    }
    if (r && r->kind == SW_REQUEST_RECV && r->any) {
        sw_ps_t after = SW_PS_NEVER;
        sw_message_t *first = sw_match_first(engine, rank, SW_OP_ANY, r->tag,
                                             r->context, SW_PS_NEVER, r,
                                             &after);
        engine->result.undecided++;
        if (first && first->from != (uint32_t)op->peer)
            engine->result.disordered++;
        sw_match_name(engine, r, op->peer, op->tag);
        return;
    }
    sw_decided_t *d = sw_lookup_find(&engine->decided, key);
    if (!d)
        return;
    sw_lookup_remove(&engine->decided, key);
    rank->untold--;
    if (d->returned) {
        take_other(engine, rank, d, op);
    } else if (d->peer != op->peer || d->tag != op->tag) {
        engine->result.undecided++;
        engine->result.disordered++;
        give_back(engine, rank, d);
        take_other(engine, rank, d, op);
    }
    sw_pool_give(&engine->decisions, d);
}
