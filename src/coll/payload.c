/*
 * payload.c - see payload.h.
 */
#include "payload.h"

#include "../node/arena.h"
#include "../node/settings.h"
#include "../node/temporary.h"

#include <stdlib.h>
#include <string.h>

#define PACK_STEP ((size_t)16 << 10)

void *sw_shared_copy(const sw_group_t *g, size_t n)
{
    void *copy = sw_arena_alloc(n, SW_LINE);
    if (!copy && !g->cma) {
        /* The others are already in the collective and cannot be told. */
        sw_say("no memory for a shared copy of %zu bytes: the arena is full. "
               "Raise STRAIGHTWAY_ARENA_SIZE, or run with "
               "STRAIGHTWAY_COLLECTIVES=off", n);
        abort();
    }
    return copy;
}

void sw_expose(sw_group_t *g, sw_exposed_t *to, const void *p, size_t n,
               bool in)
{
    *to = (sw_exposed_t){.user = (void *)(uintptr_t)p, .bytes = n};
    to->part.bytes = n;
    if (n == 0) {
        to->part.form = SW_FORM_NONE;
        return;
    }
    if (g->arena) {
        uint64_t offset = sw_arena_offset(p, n);
        if (offset != UINT64_MAX) {
            to->part.form = SW_FORM_ARENA;
            to->part.address = offset;
            return;
        }
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

void sw_unexpose(sw_exposed_t *x, bool out)
{
    if (x->packed)
        sw_temporary_free(x->packed);
    x->packed = NULL;
    if (!x->copy)
        return;
    if (out)
        sw_copy(x->user, x->copy, x->bytes);
    sw_arena_free(x->copy);
    x->copy = NULL;
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

bool sw_packing(sw_group_t *g, sw_exposed_t *x, size_t n)
{
    sw_packed_t *p = sw_temporary(sizeof *p + n);
    atomic_init(&p->ready, 0);
    *x = (sw_exposed_t){.packed = p, .bytes = n};
    if (g->arena)
        x->part.address = sw_arena_offset(p, sizeof *p + n);
    if (!g->arena || x->part.address == UINT64_MAX)
        return false;
    x->part.form = SW_FORM_PACKED;
    x->part.bytes = n;
    return true;
}

void sw_packing_add(sw_group_t *g, sw_exposed_t *x, const sw_data_t *data,
                    size_t n)
{
    sw_packed_t *p = x->packed;
    uint64_t before = atomic_load_explicit(&p->ready, memory_order_relaxed);
    sw_data_t to = {.at = p->data + before};
    for (size_t at = 0, end; at < n; at = end) {
        end = n - at < 2 * PACK_STEP ? n : at + PACK_STEP;
        sw_data_copy(data, &to, at, end);
        atomic_store_explicit(&p->ready, before + end, memory_order_release);
        sw_bell_ring(&sw_lane(g, g->me)->bell);
    }
}

void sw_packing_end(sw_group_t *g, sw_exposed_t *x)
{
    sw_packed_t *p = x->packed;
    sw_expose(g, x, p->data, x->bytes, true);
    x->packed = p;
}

bool sw_offer(sw_group_t *g, uint64_t step, uint32_t what, int readers,
              size_t eager, const sw_data_t *data, size_t n, sw_exposed_t *x)
{
    sw_shown_t shown;
    bool shows = data->layout && n > eager &&
                 sw_expose_shown(g, data, n, &shown);
    /* Up to what can be staged a copy is also better than an exposed copy. */
    if (n <= eager ||
        (n <= g->stage_max && !shows &&
         !(g->arena && !data->layout &&
           sw_arena_offset(data->at, n) != UINT64_MAX))) {
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
            sw_expose(g, x, data->at, n, true);
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

void sw_source_packed(sw_group_t *g, int member, const sw_entry_t *e,
                      uint64_t before, sw_source_t *to)
{
    to->at = NULL;
    to->packed = (const sw_packed_t *)(to->peer->arena + e->send.address);
    to->before = before;
    to->bell = &sw_lane(g, member)->bell;
}

int sw_source(sw_group_t *g, int member, uint64_t step, uint32_t what,
              sw_source_t *to)
{
    int status = SW_OK;
    const sw_entry_t *e = sw_await(g, member, step, &status);
    if (sw_unlikely(!e))
        return status;
    if (sw_unlikely(e->what != what))
        return SW_MISMATCH;
    to->bytes = e->bytes;
    to->peer = g->peer[member];
    to->shown = NULL;
    to->packed = NULL;
    switch (e->form) {
    case SW_FORM_SHOWN:
        to->at = NULL;
        to->shown = &e->shown;
        break;
    case SW_FORM_PACKED:
        sw_source_packed(g, member, e, 0, to);
        break;
    case SW_FORM_INLINE:
        to->at = e->data;
        break;
    case SW_FORM_STAGED:
        to->at = sw_staged(g, member, e->place);
        break;
    default:
        to->part = e->send;
        to->at = sw_peer_window(to->peer, &e->send, 0);
    }
    return SW_OK;
}

/* What a peer shows may change under our eyes: one copy is checked and used. */
static int find(const sw_source_t *from, size_t n, sw_data_t *to)
{
    sw_shown_t shown = *from->shown;
    return sw_data_find(from->peer, &shown, n, to) ? SW_UNREACHABLE : SW_OK;
}

/* The bytes of a packed payload that are there: more than `than`. */
static uint64_t await_packed(const sw_source_t *from, uint64_t than)
{
    uint64_t ready = 0;
    SW_WAIT_UNTIL((ready = atomic_load_explicit(
                       &from->packed->ready, memory_order_acquire)) >
                      from->before + than, from->bell);
    return ready - from->before;
}

/* Take the bytes [begin, end) of it as they come. */
static void follow(const sw_source_t *from, const sw_data_t *to, size_t begin,
                   size_t end)
{
    sw_data_t data = sw_data_plain(from->packed->data + from->before);
    for (size_t at = begin, next; at < end; at = next) {
        next = sw_min(end, await_packed(from, at));
        sw_data_copy(&data, to, at, next);
    }
}

int sw_source_fetch(const sw_source_t *from, uint64_t offset, void *to,
                    size_t n)
{
    if (from->packed) {
        sw_data_t skipped = {.at = (char *)to - offset};
        follow(from, &skipped, offset, offset + n);
        return SW_OK;
    }
    if (!from->shown)
        return sw_peer_read(from->peer, &from->part, offset, to, n)
                   ? SW_UNREACHABLE : SW_OK;
    sw_data_t data;
    int rc = find(from, offset + n, &data);
    if (rc)
        return rc;
    if (data.layout)
        sw_layout_pack(data.layout, data.at, data.count, offset, offset + n,
                       to);
    else
        sw_copy(to, data.at + offset, n);
    sw_data_done(&data);
    return SW_OK;
}

int sw_source_spread(const sw_source_t *from, const sw_data_t *to, size_t n)
{
    sw_data_t data = sw_data_plain(from->at);
    char *fetched = NULL;
    int rc = SW_OK;
    if (from->packed) {
        follow(from, to, 0, n);
        return SW_OK;
    }
    if (from->shown) {
        rc = find(from, n, &data);
    } else if (!from->at) {
        data.at = fetched = sw_temporary(n);
        rc = sw_source_fetch(from, 0, fetched, n);
    }
    if (!rc)
        sw_data_copy(&data, to, 0, n);
    if (!rc && from->shown)
        sw_data_done(&data);
    sw_temporary_free(fetched);
    return rc;
}

void sw_keep(const sw_data_t *from, const sw_data_t *to, size_t n)
{
    if (n == 0 || (from->at == to->at && from->layout == to->layout))
        return;
    if (from->layout || to->layout)
        sw_data_copy(from, to, 0, n);
    else
        memmove(to->at, from->at, n);
}
