/*
 * payload.c - see payload.h.
 */
#include "packing.h"

#include "node/temporary.h"

void *sw_payload_copy(size_t n)
{
    uint64_t there;
    return sw_temporary_shared(n, &there);
}

bool sw_expose_shared(sw_exposed_t *to, const void *p, size_t n,
                      uint64_t direct, bool copied, bool in)
{
    *to = (sw_exposed_t){.user = (void *)(uintptr_t)p, .bytes = n};
    to->part.bytes = n;
    to->part.form = SW_FORM_NONE;
    if (n == 0)
        return true;
    if (direct == UINT64_MAX && copied)
        to->copy = sw_payload_copy(n);
    if (direct == UINT64_MAX && !to->copy)
        return false;
    to->part.form = SW_FORM_ARENA;
    to->part.address = to->copy ? sw_show_at_birth(to->copy, n) : direct;
    if (in && to->copy)
        sw_copy(to->copy, p, n);
    else if (in)
        sw_show_stage(p, n);
    return true;
}

void sw_expose_at(sw_sequence_t *seq, sw_exposed_t *to, const void *p, size_t n,
                  uint64_t direct, bool in)
{
    /* One copy of a small private buffer here costs less than a system call
     * in each reader. */
    if (sw_expose_shared(to, p, n, direct, sw_payload_better_copied(seq, n),
                         in))
        return;
    to->part.form = SW_FORM_CMA;
    to->part.address = (uint64_t)(uintptr_t)p;
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

void sw_expose_end(sw_exposed_t *x, bool out)
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
    sw_temporary_free(x->copy);
    x->copy = NULL;
}

bool sw_show_blocks(sw_sequence_t *seq, sw_entry_t *e, uint64_t step,
                    int readers, int n, const sw_data_t *data,
                    const uint64_t *bytes)
{
    size_t all = (size_t)n * sizeof(sw_shown_block_t);
    if (all > seq->team->stage_max)
        return false;
    SW_ARRAY(sw_shown_block_t, table, n);
    for (int i = 0; i < n; i++) {
        table[i] = (sw_shown_block_t){.bytes = bytes[i]};
        if (bytes[i] &&
            !sw_expose_shown(seq, &data[i], bytes[i], &table[i].shown))
            return false;
    }
    e->form = SW_FORM_SHOWN;
    sw_copy(sw_sequence_claim_stage(seq, step, readers, all, e), table, all);
    return true;
}

/* Claims an entry, and room for the n bytes that it carries. */
static char *claim(sw_sequence_t *seq, uint64_t step, uint32_t what,
                   int readers, size_t n, sw_entry_t **entry)
{
    sw_entry_t *e = *entry = sw_sequence_claim(seq, step, readers);
    e->what = what;
    e->bytes = n;
    e->form = n <= SW_INLINE_MAX ? SW_FORM_INLINE : SW_FORM_STAGED;
    return n <= SW_INLINE_MAX
               ? e->data
               : sw_sequence_claim_stage(seq, step, readers, n, e);
}

void sw_payload_stage(sw_sequence_t *seq, uint64_t step, uint32_t what,
                      int readers, const void *p, size_t n)
{
    sw_entry_t *e;
    sw_copy(claim(seq, step, what, readers, n, &e), p, n);
    sw_sequence_post(seq, e, step);
}

void sw_payload_stage_data(sw_sequence_t *seq, uint64_t step, uint32_t what,
                           int readers, const sw_data_t *data, size_t n)
{
    sw_entry_t *e;
    sw_data_pack(data, n, claim(seq, step, what, readers, n, &e));
    sw_sequence_post(seq, e, step);
}

void sw_payload_stage_failure(sw_sequence_t *seq, uint64_t step, uint32_t what,
                              int readers, int why)
{
    sw_entry_t *e = sw_sequence_claim(seq, step, readers);
    e->what = what;
    e->bytes = (unsigned)why;
    e->form = SW_FORM_FAILED;
    sw_sequence_post(seq, e, step);
}

bool sw_payload_offer(sw_sequence_t *seq, uint64_t step, uint32_t what,
                      int readers, size_t eager, const sw_data_t *data,
                      size_t n, sw_exposed_t *x)
{
    sw_shown_t shown;
    bool shows = data->layout && n > eager &&
                 sw_expose_shown(seq, data, n, &shown);
    uint64_t direct = data->layout || n <= eager
                          ? UINT64_MAX
                          : sw_payload_direct(seq->team, data->at, n);
    /* Where it fits the staging, a copy there beats an exposed copy. */
    if (n <= eager ||
        (n <= seq->team->stage_max && !shows && direct == UINT64_MAX)) {
        sw_payload_stage_data(seq, step, what, readers, data, n);
        return false;
    }
    sw_entry_t *e = sw_sequence_claim(seq, step, readers);
    e->what = what;
    e->bytes = n;
    if (shows) {
        *x = (sw_exposed_t){.part.form = SW_FORM_SHOWN};
        e->shown = shown;
    } else {
        if (!data->layout) {
            sw_expose_at(seq, x, data->at, n, direct, true);
        } else if (!sw_packing(seq, x, n)) {
            sw_packing_add(seq, x, data, n);
            sw_packing_end(seq, x);
        }
        e->send = x->part;
    }
    e->form = (uint16_t)x->part.form;
    sw_sequence_post(seq, e, step);
    if (x->part.form == SW_FORM_PACKED)
        sw_packing_add(seq, x, data, n);
    return true;
}
