/*
 * scattered.c - see scattered.h.
 *
 * The sender's layout is a copy that has been validated (layout/known.h); that
 * its elements lie within the part, and the part in the arena, is checked for
 * each message.
 */
#include "scattered.h"

#include "../layout/known.h"
#include "../node/copy.h"

#include <errno.h>

#define BEYOND ((int64_t)1 << 61)

/* Where the part lies for us, or NULL with errno. */
static char *window(const sw_peer_t *sender, const sw_part_t *part)
{
    char *first = sw_peer_window(sender, part, 0);
    uint64_t span = sender->card.arena_span;
    if (first && part->bytes <= span && part->address <= span - part->bytes)
        return first;
    errno = EBADMSG;
    return NULL;
}

/* The sender's layout and its base address here; NULL with errno. */
static const sw_layout_t *source(const sw_peer_t *sender,
                                 const sw_slot_t *slot, const void **base)
{
    const char *first = window(sender, &slot->part);
    const sw_layout_t *l = first ? sw_layout_known(sender, slot->layout,
                                                   slot->serial) : NULL;
    if (!l)
        return NULL;
    int64_t count = slot->count, low, high, span;
    uint64_t bytes;
    bool fits = count > 0 &&
        !__builtin_mul_overflow(l->size, (uint64_t)count, &bytes) &&
        bytes == slot->bytes &&
        !__builtin_mul_overflow(l->extent, count, &span) &&
        span < BEYOND && span > -BEYOND;
    if (fits) {
        sw_layout_span(l, count, &low, &high);
        fits = (uint64_t)(high - low) == slot->part.bytes;
    }
    if (!fits) {
        sw_layout_done(l);
        errno = EBADMSG;
        return NULL;
    }
    *base = (const void *)((intptr_t)first - low);
    return l;
}

/* What the sender has gathered, or is gathering now. */
static void spread(const sw_slot_t *slot, const char *data,
                   const sw_target_t *to, size_t n)
{
    for (size_t at = 0, end; at < n; at = end) {
        end = sw_min(n, sw_slot_ready(slot, at));
        if (to->layout)
            sw_layout_unpack(to->layout, to->at, to->count, at, end,
                             data + at);
        else
            sw_copy((char *)to->at + at, data + at, end - at);
    }
}

int sw_scattered_take(const sw_peer_t *sender, const sw_slot_t *slot,
                      const sw_target_t *to, size_t n)
{
    if (!slot->serial) {
        const char *data = window(sender, &slot->part);
        if (!data)
            return -1;
        spread(slot, data, to, n);
        return 0;
    }
    const void *base;
    const sw_layout_t *l = source(sender, slot, &base);
    if (!l)
        return -1;
    if (to->layout)
        sw_layout_transfer(l, base, slot->count, to->layout, to->at,
                           to->count, n);
    else
        sw_layout_pack(l, base, slot->count, 0, n, to->at);
    sw_layout_done(l);
    return 0;
}

int sw_scattered_read(const sw_peer_t *sender, const sw_slot_t *slot,
                      size_t from, size_t end, void *to)
{
    const void *base;
    const sw_layout_t *l = source(sender, slot, &base);
    if (!l)
        return -1;
    sw_layout_pack(l, base, slot->count, from, end, to);
    sw_layout_done(l);
    return 0;
}
