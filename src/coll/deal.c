/*
 * deal.c - see deal.h.
 */
#include "deal.h"

#include "../node/arena.h"

#define LISTED 0x100    /* in an entry's form: a table comes first */

/* Copy all blocks but our own side by side. */
static void pack(const sw_hand_t *hand, const char *send,
                 const sw_blocks_t *blocks, char *to)
{
    for (int i = 0; i < hand->n; i++) {
        if (i == hand->own)
            continue;
        sw_extent_t block = sw_block(blocks, i);
        sw_copy(to, send + block.offset, block.bytes);
        to += block.bytes;
    }
}

/* Do peers reach this memory as it is, without a system call? */
static bool direct(const sw_group_t *g, const char *p, size_t n)
{
    return g->arena && sw_arena_offset(p, n) != UINT64_MAX;
}

static bool deal_equal(sw_group_t *g, sw_entry_t *e, uint64_t step,
                       const sw_hand_t *hand, const char *send,
                       const sw_blocks_t *blocks, sw_exposed_t *x)
{
    size_t whole = (size_t)hand->n * blocks->bytes;
    size_t all = hand->own < 0 ? whole : whole - blocks->bytes;
    e->bytes = blocks->bytes;
    if (all <= SW_INLINE_MAX) {
        e->form = SW_FORM_INLINE;
        pack(hand, send, blocks, e->data);
        return false;
    }
    if (all <= hand->eager ||
        (all <= g->stage_max && !direct(g, send, whole))) {
        e->form = SW_FORM_STAGED;
        pack(hand, send, blocks,
             sw_claim_stage(g, step, hand->readers, all, e));
        return false;
    }
    sw_expose(g, x, send, whole, true);
    e->form = (uint16_t)x->part.form;
    e->send = x->part;
    return true;
}

/* The stretch of memory that all blocks but our own lie in. */
static void span(const sw_hand_t *hand, const sw_blocks_t *blocks,
                 int64_t *low, int64_t *high, size_t *total)
{
    *low = INT64_MAX;
    *high = INT64_MIN;
    *total = 0;
    for (int i = 0; i < hand->n; i++) {
        sw_extent_t b = blocks->list[i];
        if (i == hand->own || !b.bytes)
            continue;
        *low = b.offset < *low ? b.offset : *low;
        int64_t end = b.offset + (int64_t)b.bytes;
        *high = end > *high ? end : *high;
        *total += b.bytes;
    }
    if (!*total)
        *low = *high = 0;
}

static bool deal_listed(sw_group_t *g, sw_entry_t *e, uint64_t step,
                        const sw_hand_t *hand, const char *send,
                        const sw_blocks_t *blocks, sw_exposed_t *x)
{
    int64_t low, high;
    size_t total, head = (size_t)hand->n * sizeof(sw_extent_t);
    span(hand, blocks, &low, &high, &total);
    bool small = head + total <= SW_INLINE_MAX, stage = small;
    bool inside = false;
    char *copy = NULL;
    if (!stage) {
        inside = direct(g, send + low, (size_t)(high - low));
        stage = head + total <= g->stage_max &&
                (total <= hand->eager || !inside);
    }
    if (!stage && !inside && g->arena && (total <= SW_COPY_MAX || !g->cma))
        copy = sw_shared_copy(g, total);
    char *place = small ? e->data
                        : sw_claim_stage(g, step, hand->readers,
                                         head + (stage ? total : 0), e);
    sw_extent_t *table = (sw_extent_t *)place;
    int64_t at = stage ? (int64_t)head : 0;
    for (int i = 0; i < hand->n; i++) {
        sw_extent_t b = blocks->list[i];
        b.bytes = i == hand->own ? 0 : b.bytes;
        table[i] = (sw_extent_t){stage || copy ? at : b.offset - low,
                                 b.bytes};
        at += (int64_t)b.bytes;
    }
    e->bytes = total;
    if (stage) {
        e->form = (small ? SW_FORM_INLINE : SW_FORM_STAGED) | LISTED;
        pack(hand, send, blocks, place + head);
        return false;
    }
    /* What lies between the blocks is not ours to touch: it may not even be
     * mapped. So copies are of the blocks alone. */
    if (copy)
        pack(hand, send, blocks, copy);
    *x = (sw_exposed_t){.copy = copy};
    x->part = inside || copy
        ? (sw_part_t){.form = SW_FORM_ARENA,
                      .address = sw_arena_offset(copy ? copy : send + low, 1)}
        : (sw_part_t){.form = SW_FORM_CMA,
                      .address = (uint64_t)(uintptr_t)(send + low)};
    x->part.bytes = copy ? total : (uint64_t)(high - low);
    e->form = (uint16_t)(x->part.form | LISTED);
    e->send = x->part;
    return true;
}

bool sw_deal(sw_group_t *g, uint64_t step, uint32_t what,
             const sw_hand_t *hand, const void *send,
             const sw_blocks_t *blocks, sw_exposed_t *x)
{
    sw_entry_t *e = sw_claim(g, step, hand->readers);
    e->what = what;
    bool part = blocks->list ? deal_listed(g, e, step, hand, send, blocks, x)
                             : deal_equal(g, e, step, hand, send, blocks, x);
    sw_post(g, e, step);
    return part;
}

int sw_deal_source(sw_group_t *g, int member, uint64_t step, uint32_t what,
                   int index, int own, sw_source_t *to)
{
    int rc = SW_OK;
    const sw_entry_t *e = sw_await(g, member, step, &rc);
    if (sw_unlikely(!e))
        return rc;
    if (sw_unlikely(e->what != what))
        return SW_MISMATCH;
    unsigned form = e->form & ~LISTED;
    bool part = form != SW_FORM_INLINE && form != SW_FORM_STAGED;
    const char *first = form == SW_FORM_INLINE
                            ? e->data : sw_staged(g, member, e->place);
    sw_extent_t block;
    if (e->form & LISTED) {
        block = ((const sw_extent_t *)first)[index];
    } else {
        bool behind = !part && own >= 0 && index > own;
        block = (sw_extent_t){(int64_t)((size_t)(index - behind) * e->bytes),
                              e->bytes};
    }
    to->bytes = block.bytes;
    to->peer = g->peer[member];
    if (!part) {
        to->at = first + block.offset;
        return SW_OK;
    }
    to->part = e->send;
    to->part.address += (uint64_t)block.offset;
    to->at = sw_peer_window(to->peer, &to->part, 0);
    return SW_OK;
}

int sw_receive_deal(sw_group_t *g, int member, uint64_t step, uint32_t what,
                    void *to, size_t room)
{
    sw_source_t from;
    int rc = sw_deal_source(g, member, step, what, g->me, member, &from);
    if (!rc)
        rc = sw_source_copy(&from, 0, to, sw_min(from.bytes, room));
    return rc ? rc : from.bytes > room ? SW_TRUNCATED : SW_OK;
}
