/*
 * payload.c - see payload.h.
 */
#include "payload.h"

#include "../node/arena.h"
#include "../node/settings.h"

#include <stdlib.h>

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
    if (!x->copy)
        return;
    if (out)
        sw_copy(x->user, x->copy, x->bytes);
    sw_arena_free(x->copy);
    x->copy = NULL;
}

void sw_stage(sw_group_t *g, uint64_t step, uint32_t what, int readers,
              const void *p, size_t n)
{
    sw_entry_t *e = sw_claim(g, step, readers);
    e->what = what;
    e->bytes = n;
    if (n <= SW_INLINE_MAX) {
        e->form = SW_FORM_INLINE;
        sw_copy(e->data, p, n);
    } else {
        e->form = SW_FORM_STAGED;
        sw_copy(sw_claim_stage(g, step, readers, n, e), p, n);
    }
    sw_post(g, e, step);
}

bool sw_offer(sw_group_t *g, uint64_t step, uint32_t what, int readers,
              size_t eager, const void *p, size_t n, sw_exposed_t *x)
{
    /* Up to what can be staged a copy is also better than an exposed copy. */
    if (n <= eager ||
        (n <= g->stage_max &&
         !(g->arena && sw_arena_offset(p, n) != UINT64_MAX))) {
        sw_stage(g, step, what, readers, p, n);
        return false;
    }
    sw_entry_t *e = sw_claim(g, step, readers);
    sw_expose(g, x, p, n, true);
    e->what = what;
    e->bytes = n;
    e->form = (uint16_t)x->part.form;
    e->send = x->part;
    sw_post(g, e, step);
    return true;
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
    switch (e->form) {
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
