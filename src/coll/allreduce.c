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
 *              could not do its part says of that (sw_ring_verdict)
 *
 * MPI_IN_PLACE works. Only member i reads slice i of an operand before all are
 * done with s. A member overwrites slice i of its own buffer only after member
 * i is done with s.
 */
#include "ask.h"
#include "climb.h"
#include "exchange.h"
#include "slice.h"

static int whole(sw_ring_t *ring, uint32_t what, const sw_reducer_t *r,
                 const void *in, void *out, size_t n)
{
    uint64_t step = ++ring->step;
    size_t bytes = n * r->elem;
    sw_source_t from[SW_FLAT];
    sw_stage(ring, step, what, SW_READ_ALL, in, bytes);
    int rc = sw_sources(ring, step, what, in, bytes, from);
    if (!rc)
        rc = sw_combine(ring, r, from, ring->n, 0, out, n);
    sw_ring_done(ring, step);
    ring->acked = step - 1;
    return rc;
}

/* Up the tree to member 0, and down the machine's tree. */
static int up_and_down(sw_ring_t *ring, uint32_t what, const sw_reducer_t *r,
                       const void *in, void *out, size_t n)
{
    uint64_t step = ++ring->step;
    int rc = sw_climb(ring, step, what, 0, r, in, out, n);
    sw_ring_done(ring, step);
    int down = sw_bcast_down(ring, out, n * r->elem, rc);
    return rc ? rc : down;
}

static int fetch_slices(sw_ring_t *ring, const sw_reducer_t *r,
                        const sw_part_t *outs, void *out, size_t n,
                        uint64_t step)
{
    int rc = SW_OK;
    for (int k = 1; k < ring->n; k++) {
        int member = sw_ring_right(ring, k);
        sw_slice_t s = sw_slice(n, ring->n, member, sw_grain(r->elem));
        sw_ring_await_done(ring, member, step);
        if (!rc)
            rc = sw_ring_read(ring, member, &outs[member], s.start * r->elem,
                              (char *)out + s.start * r->elem,
                              s.count * r->elem);
    }
    return rc;
}

static int sliced(sw_ring_t *ring, uint32_t what, const sw_reducer_t *r,
                  const void *in, void *out, size_t n)
{
    uint64_t step = ++ring->step;
    sw_exchange_t x;
    SW_ARRAY(sw_source_t, from, ring->n);
    SW_ARRAY(sw_part_t, outs, ring->n);
    int rc =
        sw_exchange(ring, step, what, in, out, n * r->elem, &x, from, outs);
    if (sw_unlikely(rc)) {
        /* Members differ in what or how much they reduce. Each member that
         * posted sees one that differs from it. So all end here, where those
         * with one step end too. */
        sw_ring_done(ring, step);
        sw_ring_await_done_all(ring, step);
        sw_exchange_end(&x, false);
        return rc;
    }
    uint64_t end = ++ring->step;
    sw_slice_t s = sw_slice(n, ring->n, ring->me, sw_grain(r->elem));
    uint64_t at = s.start * r->elem;
    rc = sw_combine(ring, r, from, ring->n, at, (char *)out + at, s.count);
    sw_exposed_wrote(&x.out, at, s.count * r->elem);
    sw_ring_done(ring, step);
    if (!rc)
        rc = fetch_slices(ring, r, outs, out, n, step);
    sw_ring_fail(ring, end, sw_hollow(rc));
    sw_ring_done(ring, end);
    sw_ring_await_done_all(ring, end);
    sw_exchange_end(&x, false);
    return rc ? rc : sw_ring_verdict(ring, end);
}

int sw_coll_most(sw_ring_t *ring, int32_t mine, int32_t *most)
{
    const sw_reducer_t r = {.elem = sizeof mine, .commutative = true,
                            .kernel = sw_reduce_kernel(SW_MAX, SW_INT32)};
    uint32_t what = sw_what(SW_COLL_ALLREDUCE, 0);
    return ring->n <= SW_FLAT ? whole(ring, what, &r, &mine, most, 1)
                              : up_and_down(ring, what, &r, &mine, most, 1);
}

int sw_coll_allreduce(sw_ring_t *ring, const sw_reducer_t *r, const void *in,
                      void *out, size_t n)
{
    uint32_t what = sw_what(SW_COLL_ALLREDUCE, 0);
    size_t bytes = n * r->elem;
    /* The ring of one node of several: its vector may be larger than a stage,
     * and no other member empties that. */
    if (ring->n == 1) {
        if (in != out)
            sw_copy(out, in, bytes);
        return SW_OK;
    }
    /* Where vectors are reduced whole, each member does the work of all. */
    if (ring->n <= SW_FLAT)
        return bytes * (size_t)(ring->n - 1) < ring->team->slice
                   ? whole(ring, what, r, in, out, n)
                   : sliced(ring, what, r, in, out, n);
    return bytes <= ring->team->stage_max
               ? up_and_down(ring, what, r, in, out, n)
               : sliced(ring, what, r, in, out, n);
}
