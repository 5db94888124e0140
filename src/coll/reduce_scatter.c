/*
 * reduce_scatter.c - Reduce_scatter and Reduce_scatter_block. Each member
 * offers its whole vector and combines its own slice of all vectors.
 */
#include "exchange.h"

#include <stdlib.h>

/* Where my result starts and the whole vector's length, in elements. */
static size_t place(const sw_sequence_t *seq, const size_t *counts,
                    size_t block, size_t *total)
{
    size_t start = 0, sum = 0;
    if (!counts) {
        *total = (size_t)seq->n * block;
        return (size_t)seq->me * block;
    }
    for (int i = 0; i < seq->n; i++) {
        if (i == seq->me)
            start = sum;
        sum += counts[i];
    }
    *total = sum;
    return start;
}

/* Room for the result, away from the operands that others still read where the
 * call is MPI_IN_PLACE. */
static void *aside(const void *in, void *out, size_t bytes)
{
    return in == out && bytes ? malloc(bytes) : out;
}

int sw_coll_reduce_scatter(sw_sequence_t *seq, const sw_reducer_t *r,
                           const void *in, void *out, const size_t *counts,
                           size_t block_count)
{
    uint32_t what = sw_sequence_what(SW_COLL_REDUCE_SCATTER, 0);
    uint64_t step = ++seq->step;
    size_t total, start = place(seq, counts, block_count, &total);
    size_t mine = counts ? counts[seq->me] : block_count;
    size_t bytes = total * r->elem;
    SW_ARRAY(sw_source_t, from, seq->n);
    void *to = aside(in, out, mine * r->elem);
    sw_data_t data = sw_data_plain(in);
    sw_exposed_t x;
    bool part = sw_payload_offer(seq, step, what, SW_READ_ALL,
                                 seq->team->eager_all, &data, bytes, &x);
    int rc = sw_sources(seq, step, what, in, bytes, from);
    if (!rc)
        rc = to || !mine ? sw_reducer_combine(seq, r, from, seq->n,
                                              start * r->elem, to, mine)
                         : SW_NO_ROOM;
    sw_payload_conclude(seq, step, part, &x, true);
    if (to != out) {
        if (to && !rc)
            sw_copy(out, to, mine * r->elem);
        free(to);
    }
    return rc;
}
