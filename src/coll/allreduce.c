/*
 * allreduce.c - Allreduce.
 *
 * Small: each member stages its operand and combines all of them, by the same
 * tree. That is one step, and gives the same bits on every rank. Beyond
 * SW_FLAT members the operands go up a tree, and the result comes down.
 *
 * Large: each member combines one slice of all operands into its own result
 * buffer, then fetches the other slices from their owners' buffers:
 *
 *   step s     operands and results exposed and posted
 *              my slice of my result := op over all operands
 *              done(s): my slice is ready, I need no operand any more
 *   step s+1   as each owner is done with s: fetch its slice
 *              done(s+1): I need nothing more from any member
 *              all are done with s+1: return, with what the first member that
 *              could not do its part says of that (sw_sequence_verdict)
 *
 * MPI_IN_PLACE works. Only member i reads slice i of an operand before all are
 * done with s. A member overwrites slice i of its own buffer only after member
 * i is done with s.
 */
#include "ask.h"
#include "climb.h"
#include "exchange.h"
#include "slice.h"

static int whole(sw_sequence_t *seq, uint32_t what, const sw_reducer_t *r,
                 const void *in, void *out, size_t n)
{
    uint64_t step = ++seq->step;
    size_t bytes = n * r->elem;
    sw_source_t from[SW_FLAT];
    sw_payload_stage(seq, step, what, SW_READ_ALL, in, bytes);
    int rc = sw_sources(seq, step, what, in, bytes, from);
    if (!rc)
        rc = sw_reducer_combine(seq, r, from, seq->n, 0, out, n);
    sw_sequence_done(seq, step);
    seq->acked = step - 1;
    return rc;
}

/* Up the tree to member 0, and down the machine's tree. */
static int up_and_down(sw_sequence_t *seq, uint32_t what, const sw_reducer_t *r,
                       const void *in, void *out, size_t n)
{
    uint64_t step = ++seq->step;
    int rc = sw_climb(seq, step, what, 0, r, in, out, n);
    sw_sequence_done(seq, step);
    int down = sw_bcast_down(seq, out, n * r->elem, rc);
    return rc ? rc : down;
}

static int fetch_slices(sw_sequence_t *seq, const sw_reducer_t *r,
                        const sw_part_t *outs, void *out, size_t n,
                        uint64_t step)
{
    int rc = SW_OK;
    for (int k = 1; k < seq->n; k++) {
        int member = sw_sequence_right(seq, k);
        sw_slice_t s = sw_slice(n, seq->n, member, sw_slice_grain(r->elem));
        sw_sequence_await_done(seq, member, step);
        if (!rc)
            rc = sw_sequence_read(seq, member, &outs[member], s.start * r->elem,
                                  (char *)out + s.start * r->elem,
                                  s.count * r->elem);
    }
    return rc;
}

static int sliced(sw_sequence_t *seq, uint32_t what, const sw_reducer_t *r,
                  const void *in, void *out, size_t n)
{
    uint64_t step = ++seq->step;
    sw_exchange_t x;
    SW_ARRAY(sw_source_t, from, seq->n);
    SW_ARRAY(sw_part_t, outs, seq->n);
    int rc = sw_exchange(seq, step, what, in, out, n * r->elem, &x, from, outs);
    if (sw_unlikely(rc)) {
        /* Members differ in what or how much they reduce. Each member that
         * posted sees one that differs from it. So all end here, where those
         * with one step end too. */
        sw_sequence_done(seq, step);
        sw_sequence_await_done_all(seq, step);
        sw_exchange_end(&x, false);
        return rc;
    }
    uint64_t end = ++seq->step;
    sw_slice_t s = sw_slice(n, seq->n, seq->me, sw_slice_grain(r->elem));
    uint64_t at = s.start * r->elem;
    rc = sw_reducer_combine(seq, r, from, seq->n, at, (char *)out + at,
                            s.count);
    sw_exposed_wrote(&x.out, at, s.count * r->elem);
    sw_sequence_done(seq, step);
    if (!rc)
        rc = fetch_slices(seq, r, outs, out, n, step);
    sw_sequence_fail(seq, end, sw_payload_hollow(rc));
    sw_sequence_done(seq, end);
    sw_sequence_await_done_all(seq, end);
    sw_exchange_end(&x, false);
    return rc ? rc : sw_sequence_verdict(seq, end);
}

int sw_coll_most(sw_sequence_t *seq, int32_t mine, int32_t *most)
{
    const sw_reducer_t r = {.elem = sizeof mine,
                            .commutative = true,
                            .kernel = sw_reduce_kernel(SW_MAX, SW_INT32)};
    uint32_t what = sw_sequence_what(SW_COLL_ALLREDUCE, 0);
    return seq->n <= SW_FLAT ? whole(seq, what, &r, &mine, most, 1)
                             : up_and_down(seq, what, &r, &mine, most, 1);
}

int sw_coll_allreduce(sw_sequence_t *seq, const sw_reducer_t *r, const void *in,
                      void *out, size_t n)
{
    uint32_t what = sw_sequence_what(SW_COLL_ALLREDUCE, 0);
    size_t bytes = n * r->elem;
    /* The sequence of one node of several: its vector may be larger than a
     * stage, and no other member empties that. */
    if (seq->n == 1) {
        if (in != out)
            sw_copy(out, in, bytes);
        return SW_OK;
    }
    /* Where vectors are reduced whole, each member does the work of all. */
    if (seq->n <= SW_FLAT)
        return bytes * (size_t)(seq->n - 1) < seq->team->slice
                   ? whole(seq, what, r, in, out, n)
                   : sliced(seq, what, r, in, out, n);
    return bytes <= seq->team->stage_max ? up_and_down(seq, what, r, in, out, n)
                                         : sliced(seq, what, r, in, out, n);
}
