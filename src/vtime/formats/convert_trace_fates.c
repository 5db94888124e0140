/*
 * convert_trace_fates.c - what became of receives, and which sends no rank
 * received; see convert_trace.h.
 *
 * A trace tells of a receive with wildcards when the rank posts it, and of its
 * message when it completes; a cancelled one completes without a message. So
 * the converter goes through all of a trace before it can write an operation.
 */
#include "convert_trace.h"

/* A sender, its receiver, their context and tag, as one number. */
static uint64_t way_of(uint32_t context, int64_t from, int64_t to, int64_t tag)
{
    uint64_t x = ((uint64_t)from << 32 ^ (uint64_t)to) * 0x9e3779b97f4a7c15u;
    x ^= x >> 31;
    x += (uint64_t)context << 32 ^ (uint64_t)(uint32_t)tag;
    x *= 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 29) & ~(uint64_t)3;
}

/* A receive of this way more, or fewer. */
static void count_way(sw_convert_trace_t *c, uint64_t way, int64_t by)
{
    uint64_t *value = sw_lookup_put(&c->ways, way);
    if (value)
        *value += (uint64_t)by << 32;
    else
        c->memory = false;
}

static uint64_t way_from(const sw_convert_trace_t *c,
                         const sw_traced_rank_t *rank, const sw_trace_note_t *n)
{
    uint32_t context = 0;
    sw_traced_context(c, rank, n->communicator, &context);
    return way_of(context, n->peer, rank->name->number, n->tag);
}

bool sw_traced_is_lost(sw_convert_trace_t *c, const sw_traced_rank_t *rank,
                       const sw_vop_t *op)
{
    uint64_t *value = sw_lookup_put(
        &c->ways, way_of(op->context, rank->name->number, op->peer, op->tag));
    if (!value)
        return c->memory = false;
    uint32_t sent = (uint32_t)++*value;
    return sent > *value >> 32;
}

void sw_traced_foresee(sw_convert_trace_t *c, const sw_traced_rank_t *me,
                       const sw_trace_event_t *e, sw_traced_kind_t kind)
{
    const sw_trace_note_t *post = NULL;
    uint32_t rank = me->name->number;
    for (uint32_t i = 0; i < e->note_count; i++) {
        const sw_trace_note_t *n = &e->notes[i];
        uint64_t key = sw_traced_key(rank, n->request), *value = NULL;
        switch (n->kind) {
        case SW_NOTE_POSTS: post = n; break;
        case SW_NOTE_STARTS:
            if (post && (value = sw_lookup_put(&c->posted, key))) {
                *value = way_from(c, me, post) | sw_traced_is_wild(post) |
                         (sw_traced_is_apart(post, kind) ? 2 : 0);
                if (!(*value & 3))
                    count_way(c, *value, 1);
            }
            c->memory &= !post || value;
            post = NULL;
            break;
        case SW_NOTE_RECEIVES: count_way(c, way_from(c, me, n), 1); break;
        case SW_NOTE_CAME:
        case SW_NOTE_ENDS:
            value = sw_lookup_get(&c->posted, key);
            if (!value)
                break;
            bool cancelled = n->kind == SW_NOTE_ENDS && !(*value & 2);
            bool wild = *value & 1;
            if (cancelled && !wild)
                count_way(c, *value & ~(uint64_t)3, -1);
            else if (wild && n->kind == SW_NOTE_CAME)
                count_way(c, way_from(c, me, n), 1);
            sw_lookup_remove(&c->posted, key);
            if (!cancelled && !(wild && n->kind == SW_NOTE_CAME))
                break;
            value = sw_lookup_put(&c->fates, key);
            if (!value)
                c->memory = false;
            else
                *value = cancelled || n->peer < 0 || n->tag < 0
                             ? SW_TRACED_CANCELLED
                             : (uint64_t)(uint32_t)n->peer << 32 |
                                   (uint32_t)n->tag;
            break;
        default: break;
        }
    }
}
