/*
 * channel.c - the channels between ranks, in a hash table with chains. Before
 * the table grows, the engine sweeps empty channels away. So there are about as
 * many as messages and receives that wait, however many pairs have spoken.
 */
#include "channel.h"
#include "state.h"

#include <stdlib.h>

/* A rank speaks with its neighbours: channels of eight ranks in a row that come
 * from as far away lie in one cache line. */
static size_t place(uint32_t to, uint32_t from, uint64_t context, size_t mask)
{
    uint64_t key = ((uint64_t)(to >> 3) << 32 | (from - to)) ^
                   context * 0xd6e8feb86659fd93u;
    uint64_t line = sw_lookup_mix(key);
    return (size_t)(line << 3 | ((line >> 8 ^ to) & 7)) & mask;
}

static bool empty(const sw_channel_t *c)
{
    return !c->first && !c->posted && !c->users;
}

static void sweep(sw_engine_t *engine)
{
    for (size_t i = 0; engine->bucket && i <= engine->bucket_mask; i++)
        for (sw_channel_t **at = &engine->bucket[i], *c; (c = *at);) {
            if (!empty(c)) {
                at = &c->next;
                continue;
            }
            *at = c->next;
            sw_pool_give(&engine->channels, c);
            engine->channel_count--;
        }
}

static void grow(sw_engine_t *engine)
{
    sweep(engine);
    size_t size = engine->bucket ? engine->bucket_mask + 1 : 0;
    if (size && engine->channel_count < size / 4)
        return;
    size_t more = size ? 2 * size : 256;
    sw_channel_t **bucket = sw_pool_array(more, sizeof *bucket);
    if (!bucket) {
        if (!size)
            engine->memory = true;
        return;
    }
    for (size_t i = 0; i < size; i++)
        for (sw_channel_t *c = engine->bucket[i], *next; c; c = next) {
            next = c->next;
            size_t at = place(c->to, c->from, c->context, more - 1);
            c->next = bucket[at];
            bucket[at] = c;
        }
    free(engine->bucket);
    engine->bucket = bucket;
    engine->bucket_mask = more - 1;
}

sw_channel_t *sw_channel_find(sw_engine_t *engine, uint32_t to, uint32_t from,
                              uint64_t context)
{
    size_t at = 0;
    if (engine->bucket) {
        at = place(to, from, context, engine->bucket_mask);
        for (sw_channel_t *c = engine->bucket[at]; c; c = c->next)
            if (c->to == to && c->from == from && c->context == context)
                return c;
    }
    if (!engine->bucket || engine->channel_count > engine->bucket_mask / 2) {
        grow(engine);
        if (engine->bucket)
            at = place(to, from, context, engine->bucket_mask);
    }
    sw_channel_t *c = sw_pool_take(&engine->channels);
    *c = (sw_channel_t){.to = to, .from = from, .context = (uint32_t)context};
    if (engine->bucket) {
        c->next = engine->bucket[at];
        engine->bucket[at] = c;
        engine->channel_count++;
    }
    return c;
}

void sw_channels_free(sw_engine_t *engine)
{
    free(engine->bucket);
    engine->bucket = NULL;
}
