/*
 * payload.c - see payload.h.
 */
#include "packing.h"

#include "node/base/settings.h"
#include "node/temporary.h"

#include <stdlib.h>

void *sw_shared_copy(const sw_group_t *g, size_t n)
{
    void *copy = sw_arena_alloc_shared(n, SW_LINE);
    if (!copy && !g->cma) {
        /* The others are already in the collective and cannot be told. */
        sw_say("no memory for a shared copy of %zu bytes: the arena is full. "
               "Raise STRAIGHTWAY_ARENA_SIZE, or run with "
               "STRAIGHTWAY_COLLECTIVES=off", n);
        abort();
    }
    return copy;
}

void sw_expose_at(sw_group_t *g, sw_exposed_t *to, const void *p, size_t n,
                  uint64_t direct, bool in)
{
    *to = (sw_exposed_t){.user = (void *)(uintptr_t)p, .bytes = n};
    to->part.bytes = n;
    if (n == 0) {
        to->part.form = SW_FORM_NONE;
        return;
    }
    if (direct != UINT64_MAX) {
        to->part.form = SW_FORM_ARENA;
        to->part.address = direct;
        if (in)
            sw_show_stage(p, n);
        return;
    }
    /* A small private buffer is copied once here rather than fetched with a
     * system call by each reader. */
    if (g->arena && (n <= SW_COPY_MAX || !g->cma))
        to->copy = sw_shared_copy(g, n);
    if (!to->copy) {
        to->part.form = SW_FORM_CMA;
        to->part.address = (uint64_t)(uintptr_t)p;
        return;
    }
    if (in)
        sw_copy(to->copy, p, n);
    to->part.form = SW_FORM_ARENA;
    to->part.address = sw_arena_offset(to->copy, n);
}

void sw_exposed_wrote(const sw_exposed_t *x, size_t at, size_t n)
{
    if (n == 0)
        return;
    if (x->copy)
        sw_copy((char *)x->copy + at, (char *)x->user + at, n);
    else if (x->part.form == SW_FORM_ARENA)
        sw_show_stage((char *)x->user + at, n);
}

void sw_unexpose(sw_exposed_t *x, bool out)
{
    if (x->packed)
        sw_temporary_free(x->packed);
    x->packed = NULL;
    if (out && !x->copy && x->part.form == SW_FORM_ARENA)
        sw_show_fetch(x->user, x->bytes);
    if (!x->copy)
        return;
    if (out)
        sw_copy(x->user, x->copy, x->bytes);
    sw_arena_free(x->copy);
    x->copy = NULL;
}

bool sw_show_blocks(sw_group_t *g, sw_entry_t *e, uint64_t step, int readers,
                    int n, const sw_data_t *data, const uint64_t *bytes)
{
    size_t all = (size_t)n * sizeof(sw_shown_block_t);
    if (all > g->stage_max)
        return false;
    SW_ARRAY(sw_shown_block_t, table, n);
    for (int i = 0; i < n; i++) {
        table[i] = (sw_shown_block_t){.bytes = bytes[i]};
        if (bytes[i] &&
            !sw_expose_shown(g, &data[i], bytes[i], &table[i].shown))
            return false;
    }
    e->form = SW_FORM_SHOWN;
    sw_copy(sw_claim_stage(g, step, readers, all, e), table, all);
    return true;
}

/* An entry and room for the n bytes that it is to carry. */
static char *claim(sw_group_t *g, uint64_t step, uint32_t what, int readers,
                   size_t n, sw_entry_t **entry)
{
    sw_entry_t *e = *entry = sw_claim(g, step, readers);
    e->what = what;
    e->bytes = n;
    e->form = n <= SW_INLINE_MAX ? SW_FORM_INLINE : SW_FORM_STAGED;
    return n <= SW_INLINE_MAX ? e->data
                              : sw_claim_stage(g, step, readers, n, e);
}

void sw_stage(sw_group_t *g, uint64_t step, uint32_t what, int readers,
              const void *p, size_t n)
{
    sw_entry_t *e;
    sw_copy(claim(g, step, what, readers, n, &e), p, n);
    sw_post(g, e, step);
}

void sw_stage_data(sw_group_t *g, uint64_t step, uint32_t what, int readers,
                   const sw_data_t *data, size_t n)
{
    sw_entry_t *e;
    sw_data_pack(data, n, claim(g, step, what, readers, n, &e));
    sw_post(g, e, step);
}

bool sw_offer(sw_group_t *g, uint64_t step, uint32_t what, int readers,
              size_t eager, const sw_data_t *data, size_t n, sw_exposed_t *x)
{
    sw_shown_t shown;
    bool shows = data->layout && n > eager &&
                 sw_expose_shown(g, data, n, &shown);
    uint64_t direct = data->layout || n <= eager
        ? UINT64_MAX : sw_direct(g, data->at, n);
    /* Up to what can be staged a copy is also better than an exposed copy. */
    if (n <= eager ||
        (n <= g->stage_max && !shows && direct == UINT64_MAX)) {
        sw_stage_data(g, step, what, readers, data, n);
        return false;
    }
    sw_entry_t *e = sw_claim(g, step, readers);
    e->what = what;
    e->bytes = n;
    if (shows) {
        *x = (sw_exposed_t){.part.form = SW_FORM_SHOWN};
        e->shown = shown;
    } else {
        if (!data->layout) {
            sw_expose_at(g, x, data->at, n, direct, true);
        } else if (!sw_packing(g, x, n)) {
            sw_packing_add(g, x, data, n);
            sw_packing_end(g, x);
        }
        e->send = x->part;
    }
    e->form = (uint16_t)x->part.form;
    sw_post(g, e, step);
    if (x->part.form == SW_FORM_PACKED)
        sw_packing_add(g, x, data, n);
    return true;
}
