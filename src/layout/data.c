/*
 * data.c - see data.h.
 *
 * A peer's layout is a copy that has been validated (layout/known.h); that its
 * elements lie within the stretch, and the stretch in the arena, is checked for
 * each message.
 */
#include "data.h"

#include "known.h"

#include <errno.h>

#define BEYOND ((int64_t)1 << 61)

bool sw_data_show_form(const sw_data_t *data, size_t bytes, sw_shown_t *to,
                       int64_t *low)
{
    const sw_layout_t *l = data->layout;
    int64_t high = (int64_t)bytes;
    *to = (sw_shown_t){0};
    *low = 0;
    if (l) {
        if (!l->serial)
            return false;
        to->layout = sw_show_at_birth(l, l->bytes);
        to->serial = l->serial;
        to->count = data->count;
        sw_layout_span(l, data->count, low, &high);
    }
    to->span = (uint64_t)(high - *low);
    return to->layout != UINT64_MAX;
}

bool sw_data_show(const sw_data_t *data, size_t bytes, sw_shown_t *to)
{
    const sw_layout_t *l = data->layout;
    int64_t low;
    if (!sw_data_show_form(data, bytes, to, &low))
        return false;
    if (!to->span)
        return true;
    const void *first = (const void *)((intptr_t)data->at + low);
    to->at = l ? sw_show_span(first, to->span) : sw_show(first, to->span);
    if (to->at == UINT64_MAX)
        return false;
    if (!l)
        sw_show_stage(first, to->span);
    return true;
}

/* Do `count` elements lie within `span` bytes and hold `bytes`? Where they
 * begin then. */
static bool fits(const sw_layout_t *l, int64_t count, uint64_t span,
                 size_t bytes, int64_t *low)
{
    int64_t high, all;
    uint64_t data;
    if (count <= 0 || __builtin_mul_overflow(l->size, (uint64_t)count, &data) ||
        data < bytes || __builtin_mul_overflow(l->extent, count, &all) ||
        all >= BEYOND || all <= -BEYOND)
        return false;
    sw_layout_span(l, count, low, &high);
    return (uint64_t)(high - *low) == span;
}

int sw_data_find_form(const sw_peer_t *owner, const sw_shown_t *shown,
                      char *lowest, uint64_t span, size_t bytes, sw_data_t *to)
{
    errno = EBADMSG;
    *to = (sw_data_t){.at = lowest};
    if (!shown->serial)
        return span >= bytes ? 0 : -1;
    to->layout = sw_layout_known(owner, shown->layout, shown->serial);
    if (!to->layout)
        return -1;
    int64_t low;
    if (!fits(to->layout, shown->count, span, bytes, &low)) {
        sw_data_done(to);
        errno = EBADMSG;
        return -1;
    }
    to->count = shown->count;
    to->at = (char *)((intptr_t)to->at - low);
    return 0;
}

int sw_data_find(const sw_peer_t *owner, const sw_shown_t *shown, size_t bytes,
                 sw_data_t *to)
{
    uint64_t span = owner->card.arena_span;
    errno = EBADMSG;
    if (!owner->arena || shown->span > span || shown->at > span - shown->span)
        return -1;
    return sw_data_find_form(owner, shown, owner->arena + shown->at,
                             shown->span, bytes, to);
}

void sw_data_done(const sw_data_t *found)
{
    if (found->layout)
        sw_layout_done(found->layout);
}

void sw_data_copy(const sw_data_t *from, const sw_data_t *to, size_t begin,
                  size_t end)
{
    if (from->layout && to->layout)
        sw_layout_transfer(from->layout, from->at, from->count, to->layout,
                           to->at, to->count, begin, end);
    else if (from->layout)
        sw_layout_pack(from->layout, from->at, from->count, begin, end,
                       to->at + begin);
    else if (to->layout)
        sw_layout_unpack(to->layout, to->at, to->count, begin, end,
                         from->at + begin);
    else
        sw_copy(to->at + begin, from->at + begin, end - begin);
}
