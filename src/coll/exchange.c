/*
 * exchange.c - see exchange.h.
 */
#include "exchange.h"

int sw_sources(sw_ring_t *ring, uint64_t step, uint32_t what, const void *own,
               size_t bytes, sw_source_t *from)
{
    int rc = SW_OK;
    from[ring->me] = sw_source_own(own, bytes);
    for (int k = 1; k < ring->n; k++) {
        int member = sw_ring_right(ring, k);
        int bad = sw_source(ring, member, step, what, &from[member]);
        if (!bad && from[member].bytes != bytes)
            bad = SW_TRUNCATED;
        rc = rc ? rc : bad;
    }
    return rc;
}

int sw_exchange(sw_ring_t *ring, uint64_t step, uint32_t what, const void *in,
                void *out, size_t bytes, sw_exchange_t *x, sw_source_t *from,
                sw_part_t *outs)
{
    sw_expose(ring, &x->in, in, bytes, true);
    sw_expose(ring, &x->out, out, out ? bytes : 0, false);
    sw_entry_t *e = sw_ring_claim(ring, step, SW_READ_ALL);
    e->what = what;
    e->bytes = bytes;
    e->form = (uint16_t)x->in.part.form;
    e->send = x->in.part;
    e->recv = x->out.part;
    sw_ring_post(ring, e, step);
    int rc = sw_sources(ring, step, what, in, bytes, from);
    for (int i = 0; i < ring->n && !rc; i++)
        outs[i] = sw_ring_entry(ring, i, step)->recv;
    return rc;
}

void sw_exchange_end(sw_exchange_t *x, bool written)
{
    sw_unexpose(&x->in, false);
    sw_unexpose(&x->out, written);
}
