/*
 * exchange.c - see exchange.h.
 */
#include "exchange.h"

int sw_sources(sw_group_t *g, uint64_t step, uint32_t what, const void *own,
               size_t bytes, sw_source_t *from)
{
    int rc = SW_OK;
    from[g->me] = sw_source_own(own, bytes);
    for (int k = 1; k < g->n; k++) {
        int member = sw_neighbour(g, k);
        int bad = sw_source(g, member, step, what, &from[member]);
        if (!bad && from[member].bytes != bytes)
            bad = SW_TRUNCATED;
        rc = rc ? rc : bad;
    }
    return rc;
}

int sw_exchange(sw_group_t *g, uint64_t step, uint32_t what, const void *in,
                void *out, size_t bytes, sw_exchange_t *x, sw_source_t *from,
                sw_part_t *outs)
{
    sw_expose(g, &x->in, in, bytes, true);
    sw_expose(g, &x->out, out, out ? bytes : 0, false);
    sw_entry_t *e = sw_claim(g, step, SW_READ_ALL);
    e->what = what;
    e->bytes = bytes;
    e->form = (uint16_t)x->in.part.form;
    e->send = x->in.part;
    e->recv = x->out.part;
    sw_post(g, e, step);
    int rc = sw_sources(g, step, what, in, bytes, from);
    for (int i = 0; i < g->n && !rc; i++)
        outs[i] = sw_entry(g, i, step)->recv;
    return rc;
}

void sw_exchange_end(sw_exchange_t *x, bool written)
{
    sw_unexpose(&x->in, false);
    sw_unexpose(&x->out, written);
}
