/*
 * deal.c - see deal.h.
 */
#include "deal.h"

#include "packing.h"

#define LISTED 0x100 /* in an entry's form: a table comes first */

/* Block i, if it leaves. */
static uint64_t bytes_of(const sw_hand_t *hand, const sw_blocks_t *blocks,
                         int i)
{
    bool stays = i == hand->own ||
                 (hand->to && blocks->list && hand->to[i] == hand->me);
    return stays ? 0 : sw_block(blocks, i).bytes;
}

/* The k-th block in the order in which members ask for them: each begins with
 * its right neighbour. */
static int turn(const sw_hand_t *hand, int k)
{
    int i = hand->own - 1 - k;
    return hand->own < 0 ? k : i < 0 ? i + hand->n : i;
}

/* Copies all blocks but our own side by side. */
static void pack(const sw_hand_t *hand, const char *send,
                 const sw_blocks_t *blocks, char *to)
{
    for (int i = 0; i < hand->n; i++) {
        size_t bytes = bytes_of(hand, blocks, i);
        sw_data_t block = sw_block_data(blocks, send, i);
        if (bytes)
            sw_data_pack(&block, bytes, to);
        to += bytes;
    }
}

/* Shows all blocks; false: the caller packs them instead. */
static bool show(sw_sequence_t *seq, sw_entry_t *e, uint64_t step,
                 const sw_hand_t *hand, const sw_blocks_t *blocks,
                 sw_exposed_t *x)
{
    SW_ARRAY(uint64_t, bytes, hand->n);
    for (int i = 0; i < hand->n; i++)
        bytes[i] = bytes_of(hand, blocks, i);
    if (!sw_show_blocks(seq, e, step, hand->readers, hand->n, blocks->data,
                        bytes))
        return false;
    *x = (sw_exposed_t){.part.form = SW_FORM_SHOWN};
    e->form |= LISTED;
    return true;
}

/* Packs all blocks that leave; what members ask for first comes first. */
static void fill(sw_sequence_t *seq, const sw_hand_t *hand,
                 const sw_blocks_t *blocks, sw_exposed_t *x)
{
    for (int k = 0; k < hand->n; k++) {
        int i = turn(hand, k);
        uint64_t bytes = bytes_of(hand, blocks, i);
        if (bytes)
            sw_packing_add(seq, x, &blocks->data[i], bytes);
    }
}

/* Packs blocks with gaps that are too many bytes for the staging. */
static void deal_packed(sw_sequence_t *seq, sw_entry_t *e, uint64_t step,
                        const sw_hand_t *hand, const sw_blocks_t *blocks,
                        size_t total, sw_exposed_t *x)
{
    if (!sw_packing(seq, x, total)) {
        fill(seq, hand, blocks, x);
        sw_packing_end(seq, x);
    }
    e->form = (uint16_t)(x->part.form | LISTED);
    e->send = x->part;
    sw_extent_t *table = (sw_extent_t *)sw_sequence_claim_stage(
        seq, step, hand->readers, (size_t)hand->n * sizeof *table, e);
    int64_t at = 0;
    for (int k = 0; k < hand->n; k++) {
        int i = turn(hand, k);
        table[i] = (sw_extent_t){at, bytes_of(hand, blocks, i)};
        at += (int64_t)table[i].bytes;
    }
}

static bool deal_equal(sw_sequence_t *seq, sw_entry_t *e, uint64_t step,
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
    if (blocks->data && all > hand->eager &&
        show(seq, e, step, hand, blocks, x))
        return true;
    uint64_t direct = all <= hand->eager || blocks->data
                          ? UINT64_MAX
                          : sw_payload_direct(seq->team, send, whole);
    if (all <= hand->eager ||
        (all <= seq->team->stage_max && direct == UINT64_MAX)) {
        e->form = SW_FORM_STAGED;
        pack(hand, send, blocks,
             sw_sequence_claim_stage(seq, step, hand->readers, all, e));
        return false;
    }
    if (blocks->data) {
        deal_packed(seq, e, step, hand, blocks, all, x);
        return true;
    }
    sw_expose_at(seq, x, send, whole, direct, true);
    e->form = (uint16_t)x->part.form;
    e->send = x->part;
    return true;
}

/* The stretch of memory that all blocks but our own lie in. */
static void span(const sw_hand_t *hand, const sw_blocks_t *blocks, int64_t *low,
                 int64_t *high, size_t *total)
{
    *low = INT64_MAX;
    *high = INT64_MIN;
    *total = 0;
    for (int i = 0; i < hand->n; i++) {
        sw_extent_t b = blocks->list[i];
        if (!bytes_of(hand, blocks, i))
            continue;
        *low = b.offset < *low ? b.offset : *low;
        int64_t end = b.offset + (int64_t)b.bytes;
        *high = end > *high ? end : *high;
        *total += b.bytes;
    }
    if (!*total)
        *low = *high = 0;
}

/* Where the others find all blocks that leave, from send + low on, or
 * UINT64_MAX. The memory between them is not ours. */
static uint64_t direct_blocks(sw_sequence_t *seq, const sw_hand_t *hand,
                              const char *send, const sw_blocks_t *blocks,
                              int64_t low, int64_t high)
{
    uint64_t offset = seq->team->arena
                          ? sw_arena_offset(send + low, (size_t)(high - low))
                          : UINT64_MAX;
    for (int i = 0; i < hand->n && offset != UINT64_MAX; i++) {
        uint64_t bytes = bytes_of(hand, blocks, i);
        if (bytes && sw_payload_direct(seq->team, send + blocks->list[i].offset,
                                       bytes) == UINT64_MAX)
            offset = UINT64_MAX;
    }
    return offset;
}

static void stage_blocks(const sw_hand_t *hand, const char *send,
                         const sw_blocks_t *blocks)
{
    for (int i = 0; i < hand->n; i++)
        if (bytes_of(hand, blocks, i))
            sw_show_stage(send + blocks->list[i].offset,
                          bytes_of(hand, blocks, i));
}

static bool deal_listed(sw_sequence_t *seq, sw_entry_t *e, uint64_t step,
                        const sw_hand_t *hand, const char *send,
                        const sw_blocks_t *blocks, sw_exposed_t *x)
{
    int64_t low, high;
    size_t total, head = (size_t)hand->n * sizeof(sw_extent_t);
    span(hand, blocks, &low, &high, &total);
    bool small = head + total <= SW_INLINE_MAX, stage = small;
    uint64_t direct = UINT64_MAX;
    char *copy = NULL;
    e->bytes = total;
    if (blocks->data && total > hand->eager &&
        show(seq, e, step, hand, blocks, x))
        return true;
    if (!stage) {
        if (!blocks->data)
            direct = direct_blocks(seq, hand, send, blocks, low, high);
        stage = head + total <= seq->team->stage_max &&
                (total <= hand->eager || direct == UINT64_MAX);
    }
    if (!stage && blocks->data) {
        deal_packed(seq, e, step, hand, blocks, total, x);
        return true;
    }
    if (!stage && direct == UINT64_MAX && sw_payload_better_copied(seq, total))
        copy = sw_payload_copy(total);
    char *place = small
                      ? e->data
                      : sw_sequence_claim_stage(seq, step, hand->readers,
                                                head + (stage ? total : 0), e);
    sw_extent_t *table = (sw_extent_t *)place;
    int64_t at = stage ? (int64_t)head : 0;
    for (int i = 0; i < hand->n; i++) {
        uint64_t bytes = bytes_of(hand, blocks, i);
        table[i] = (sw_extent_t){
            stage || copy ? at : blocks->list[i].offset - low, bytes};
        at += (int64_t)bytes;
    }
    if (stage) {
        e->form = (small ? SW_FORM_INLINE : SW_FORM_STAGED) | LISTED;
        pack(hand, send, blocks, place + head);
        return false;
    }
    /* The memory between the blocks is not ours, and may not even be mapped. So
     * only the blocks are copied. */
    if (copy)
        pack(hand, send, blocks, copy);
    *x = (sw_exposed_t){.copy = copy};
    if (copy)
        direct = sw_show_at_birth(copy, 1);
    else if (direct != UINT64_MAX)
        stage_blocks(hand, send, blocks);
    x->part = direct != UINT64_MAX
                  ? (sw_part_t){.form = SW_FORM_ARENA, .address = direct}
                  : (sw_part_t){.form = SW_FORM_CMA,
                                .address = (uint64_t)(uintptr_t)(send + low)};
    x->part.bytes = copy ? total : (uint64_t)(high - low);
    e->form = (uint16_t)(x->part.form | LISTED);
    e->send = x->part;
    return true;
}

bool sw_deal(sw_sequence_t *seq, uint64_t step, uint32_t what,
             const sw_hand_t *hand, const void *send, const sw_blocks_t *blocks,
             sw_exposed_t *x)
{
    sw_entry_t *e = sw_sequence_claim(seq, step, hand->readers);
    e->what = what;
    bool part = blocks->list ? deal_listed(seq, e, step, hand, send, blocks, x)
                             : deal_equal(seq, e, step, hand, send, blocks, x);
    sw_sequence_post(seq, e, step);
    if (part && x->part.form == SW_FORM_PACKED)
        fill(seq, hand, blocks, x);
    return part;
}

int sw_deal_source(sw_sequence_t *seq, int member, uint64_t step, uint32_t what,
                   int index, int own, sw_source_t *to)
{
    int rc = SW_OK;
    const sw_entry_t *e = sw_sequence_await(seq, member, step, &rc);
    if (sw_unlikely(!e))
        return rc;
    if (sw_unlikely(e->what != what))
        return sw_sequence_mismatch(seq);
    unsigned form = e->form & ~LISTED;
    bool part = form != SW_FORM_INLINE && form != SW_FORM_STAGED;
    const char *first = form == SW_FORM_INLINE
                            ? e->data
                            : sw_sequence_staged(seq, member, e->place);
    to->seq = seq;
    to->member = member;
    to->peer = seq->peer[member];
    to->shown = NULL;
    to->packed = NULL;
    if (form == SW_FORM_SHOWN) {
        const sw_shown_block_t *shown = (const sw_shown_block_t *)first + index;
        to->at = NULL;
        to->shown = &shown->shown;
        to->bytes = shown->bytes;
        return SW_OK;
    }
    sw_extent_t block;
    if (e->form & LISTED) {
        block = ((const sw_extent_t *)first)[index];
    } else {
        bool behind = !part && own >= 0 && index > own;
        block = (sw_extent_t){(int64_t)((size_t)(index - behind) * e->bytes),
                              e->bytes};
    }
    to->bytes = block.bytes;
    if (form == SW_FORM_PACKED) {
        sw_source_packed(e, (uint64_t)block.offset, to);
        return SW_OK;
    }
    if (!part) {
        to->at = first + block.offset;
        return SW_OK;
    }
    to->part = e->send;
    to->part.address += (uint64_t)block.offset;
    to->at = sw_peer_window(to->peer, &to->part, 0);
    return SW_OK;
}

int sw_receive_deal(sw_sequence_t *seq, int member, uint64_t step,
                    uint32_t what, const sw_data_t *to, size_t room)
{
    sw_source_t from;
    int rc = sw_deal_source(seq, member, step, what, seq->me, member, &from);
    if (!rc)
        rc = sw_source_put(&from, to, sw_min(from.bytes, room));
    return rc ? rc : from.bytes > room ? SW_TRUNCATED : SW_OK;
}
