/*
 * allreduce.c - Allreduce.
 *
 * Small: everybody stages its operand, and everybody combines all of them in
 * rank order: one step, the same bits everywhere. Beyond SW_FLAT members: up a
 * tree and down again.
 *
 * Large: each member combines one slice of all operands into its own result
 * buffer, then fetches the other slices from their owners' buffers:
 *
 *   step s     operands and results exposed and posted
 *              my slice of my result := op over all operands
 *              done(s): my slice is ready, I need no operand any more
 *   step s+1   as each owner is done with s: fetch its slice
 *              done(s+1): I need nothing of anybody any more
 *              all are done with s+1: return
 *
 * MPI_IN_PLACE works, since slice i of an operand is read by member i alone
 * until all are done with s, and a member overwrites slice i of its own buffer
 * only after member i is done with s.
 */
#include "climb.h"
#include "exchange.h"
#include "slice.h"

static int whole(sw_group_t *g, uint32_t what, const sw_reducer_t *r,
                 const void *in, void *out, size_t n)
{
    uint64_t step = ++g->step;
    size_t bytes = n * r->elem;
    sw_source_t from[SW_FLAT];
    sw_stage(g, step, what, SW_READ_ALL, in, bytes);
    int rc = sw_sources(g, step, what, in, bytes, from);
    if (!rc)
        rc = sw_combine(g, r, from, g->n, 0, out, n);
    sw_done(g, step);
    g->acked = step - 1;
    return rc;
}

/* Up the tree to member 0, and down the machine's tree. */
static int up_and_down(sw_group_t *g, uint32_t what, const sw_reducer_t *r,
                       const void *in, void *out, size_t n)
{
    uint64_t step = ++g->step;
    int rc = sw_climb(g, step, what, 0, r, in, out, n);
    sw_done(g, step);
    int down = sw_coll_bcast(g, 0, &(sw_data_t){.at = out}, n * r->elem);
    return rc ? rc : down;
}

static int fetch_slices(sw_group_t *g, const sw_reducer_t *r,
                        const sw_part_t *outs, void *out, size_t n,
                        uint64_t step)
{
    int rc = SW_OK;
    for (int k = 1; k < g->n; k++) {
        int member = sw_neighbour(g, k);
        sw_slice_t s = sw_slice(n, g->n, member, sw_grain(r->elem));
        sw_await_done(g, member, step);
        if (!rc && sw_peer_read(g->peer[member], &outs[member],
                                s.start * r->elem,
                                (char *)out + s.start * r->elem,
                                s.count * r->elem))
            rc = SW_UNREACHABLE;
    }
    return rc;
}

static int sliced(sw_group_t *g, uint32_t what, const sw_reducer_t *r,
                  const void *in, void *out, size_t n)
{
    uint64_t step = ++g->step;
    sw_exchange_t x;
    SW_ARRAY(sw_source_t, from, g->n);
    SW_ARRAY(sw_part_t, outs, g->n);
    int rc = sw_exchange(g, step, what, in, out, n * r->elem, &x, from, outs);
    if (sw_unlikely(rc)) {
        /* Members differ in what or how much they reduce. Whoever has posted
         * has seen somebody who differs from it, so that all end here, where
         * those with one step end too. */
        sw_done(g, step);
        sw_await_done_all(g, step);
        sw_exchange_end(&x, false);
        return rc;
    }
    uint64_t end = ++g->step;
    sw_slice_t s = sw_slice(n, g->n, g->me, sw_grain(r->elem));
    uint64_t at = s.start * r->elem;
    rc = sw_combine(g, r, from, g->n, at, (char *)out + at, s.count);
    sw_exposed_wrote(&x.out, at, s.count * r->elem);
    sw_done(g, step);
    if (!rc)
        rc = fetch_slices(g, r, outs, out, n, step);
    sw_done(g, end);
    sw_await_done_all(g, end);
    sw_exchange_end(&x, false);
    return rc;
}

int sw_coll_most(sw_group_t *g, int32_t mine, int32_t *most)
{
    const sw_reducer_t r = {.elem = sizeof mine, .commutative = true,
                            .kernel = sw_reduce_kernel(SW_MAX, SW_INT32)};
    uint32_t what = sw_what(SW_COLL_ALLREDUCE, 0);
    return g->n <= SW_FLAT ? whole(g, what, &r, &mine, most, 1)
                           : up_and_down(g, what, &r, &mine, most, 1);
}

int sw_coll_allreduce(sw_group_t *g, const sw_reducer_t *r, const void *in,
                      void *out, size_t n)
{
    uint32_t what = sw_what(SW_COLL_ALLREDUCE, 0);
    size_t bytes = n * r->elem;
    /* What is reduced whole costs every member the work of all. */
    if (g->n <= SW_FLAT)
        return bytes * (size_t)(g->n - 1) < g->slice
                   ? whole(g, what, r, in, out, n)
                   : sliced(g, what, r, in, out, n);
    return bytes <= g->stage_max ? up_and_down(g, what, r, in, out, n)
                                  : sliced(g, what, r, in, out, n);
}
