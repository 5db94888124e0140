/*
 * exchange.c - see exchange.h.
 */
#include "exchange.h"

int sw_sources(sw_sequence_t *seq, uint64_t step, uint32_t what,
               const void *own, size_t bytes, sw_source_t *from)
{
    int rc = SW_OK;
    from[seq->me] = sw_source_own(own, bytes);
    for (int k = 1; k < seq->n; k++) {
        int member = sw_sequence_right(seq, k);
        int bad = sw_source(seq, member, step, what, &from[member]);
        if (!bad && from[member].bytes != bytes)
            bad = SW_TRUNCATED;
        rc = rc ? rc : bad;
    }
    return rc;
}

int sw_exchange(sw_sequence_t *seq, uint64_t step, uint32_t what,
                const void *in, void *out, size_t bytes, sw_exchange_t *x,
                sw_source_t *from, sw_part_t *outs)
{
    sw_expose(seq, &x->in, in, bytes, true);
    sw_expose(seq, &x->out, out, out ? bytes : 0, false);
    sw_entry_t *e = sw_sequence_claim(seq, step, SW_READ_ALL);
    e->what = what;
    e->bytes = bytes;
    e->form = (uint16_t)x->in.part.form;
    e->send = x->in.part;
    e->recv = x->out.part;
    sw_sequence_post(seq, e, step);
    int rc = sw_sources(seq, step, what, in, bytes, from);
    for (int i = 0; i < seq->n && !rc; i++)
        outs[i] = sw_sequence_entry(seq, i, step)->recv;
    return rc;
}

void sw_exchange_end(sw_exchange_t *x, bool written)
{
    sw_expose_end(&x->in, false);
    sw_expose_end(&x->out, written);
}
