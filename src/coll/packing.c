/*
 * packing.c - see packing.h.
 */
#include "packing.h"

#include "node/temporary.h"

#define STEP ((size_t)16 << 10)

bool sw_packing(sw_sequence_t *seq, sw_exposed_t *x, size_t n)
{
    uint64_t there = UINT64_MAX;
    sw_packed_t *p = NULL;
    if (seq->team->arena)
        p = sw_temporary_shared(sizeof *p + n, &there);
    if (!p)
        p = sw_temporary(sizeof *p + n);
    atomic_init(&p->ready, 0);
    *x = (sw_exposed_t){.packed = p, .bytes = n};
    if (there == UINT64_MAX)
        return false;
    x->part.address = there;
    x->part.form = SW_FORM_PACKED;
    x->part.bytes = n;
    return true;
}

void sw_packing_add(sw_sequence_t *seq, sw_exposed_t *x, const sw_data_t *data,
                    size_t n)
{
    sw_packed_t *p = x->packed;
    uint64_t before = atomic_load_explicit(&p->ready, memory_order_relaxed);
    sw_data_t to = {.at = p->data + before};
    for (size_t at = 0, end; at < n; at = end) {
        end = n - at < 2 * STEP ? n : at + STEP;
        sw_data_copy(data, &to, at, end);
        atomic_store_explicit(&p->ready, before + end, memory_order_release);
        sw_doorbell_ring(&sw_sequence_column(seq, seq->me)->doorbell);
    }
}

void sw_packing_end(sw_sequence_t *seq, sw_exposed_t *x)
{
    sw_packed_t *p = x->packed;
    sw_expose(seq, x, p->data, x->bytes, true);
    x->packed = p;
}
