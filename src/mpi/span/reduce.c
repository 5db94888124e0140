/*
 * reduce.c - the reductions over several nodes.
 *
 * Each team reduces, the gates (or leaders) reduce the teams' results along
 * their lane, and the teams share what comes. Nodes are numbered by their
 * leaders' ranks, so where the ranks ascend from node to node all operands keep
 * rank order. Elsewhere only what commutes comes here (ready.c).
 *
 * Scan: the nodes' sums are scanned along lane 0, and what comes before a node
 * is combined with its members' own prefixes.
 */
#include "gate.h"
#include "lanes.h"

#include "node/temporary.h"

#include <string.h>

static int reduce_on(sw_span_t *s, int root, const sw_operation_t *o,
                     const void *in, void *out, size_t n)
{
    return sw_coll_reduce(s->sequence, root, &o->reducer, in, out, n);
}

int sw_span_reduce(sw_span_t *s, int root, const sw_operation_t *o,
                   const void *in, void *out, size_t n)
{
    sw_gate_t g = sw_gate(s, root);
    size_t bytes = n * o->reducer.elem;
    bool own = g.is_gate && !g.is_root;
    char *sum = own ? sw_temporary(bytes) : out;
    int rc = reduce_on(s, g.gate, o, in, sum, n);
    if (g.is_gate) {
        MPI_Request request;
        int code = host.Ireduce(g.is_home ? MPI_IN_PLACE : sum,
                                g.is_home ? sum : NULL, (int)n, o->type->handle,
                                o->op, g.home, s->lane, &request);
        rc = sw_await_first_bad(rc, sw_span_await(s, &request, code, bytes));
    }
    if (g.is_home && g.gate != g.root)
        rc = sw_await_first_bad(
            rc, sw_gate_hand(s, g.gate, g.root, sum, out, bytes));
    if (own)
        sw_temporary_free(sum);
    return rc;
}

int sw_span_allreduce(sw_span_t *s, const sw_operation_t *o, const void *in,
                      void *out, size_t n)
{
    size_t bytes = n * o->reducer.elem;
    if (sw_span_way(s, SW_COLL_ALLREDUCE, bytes) == SW_WAY_LANES)
        return sw_lanes_allreduce(s, o, in, out, n);
    int rc = reduce_on(s, 0, o, in, out, n);
    if (s->mine == 0) {
        MPI_Request request;
        int code = host.Iallreduce(MPI_IN_PLACE, out, (int)n, o->type->handle,
                                   o->op, s->lane, &request);
        rc = sw_await_first_bad(rc, sw_span_await(s, &request, code, bytes));
    }
    sw_data_t result = sw_data_plain(out);
    return sw_await_first_bad(rc,
                              sw_coll_bcast(s->sequence, 0, &result, bytes));
}

/* The vector's blocks in the order of `rank`, which is by node. */
static void sort_blocks(const sw_span_t *s, const size_t *counts, size_t elem,
                        const char *from, char *to)
{
    SW_ARRAY(size_t, start, s->n);
    size_t at = 0;
    for (int i = 0; i < s->n; at += counts[i++])
        start[i] = at;
    for (int i = 0; i < s->n; i++) {
        size_t bytes = counts[s->rank[i]] * elem;
        memcpy(to, from + start[s->rank[i]] * elem, bytes);
        to += bytes;
    }
}

/* The leaders exchange: `vector` is the node's sum, and its members' part of
 * the result goes to the beginning of `part`. */
static int exchange(sw_span_t *s, const sw_operation_t *o, char *vector,
                    char *part, const size_t *counts)
{
    SW_ARRAY(int, each, s->nodes);
    size_t all = 0;
    for (int k = 0; k < s->nodes; k++) {
        each[k] = 0;
        for (int i = s->first[k]; i < s->first[k + 1]; i++)
            each[k] += (int)counts[s->rank[i]];
        all += (size_t)each[k];
    }
    MPI_Request request;
    int code = host.Ireduce_scatter(vector, part, each, o->type->handle, o->op,
                                    s->lane, &request);
    return sw_span_await(s, &request, code, all * o->reducer.elem);
}

int sw_span_reduce_scatter(sw_span_t *s, const sw_operation_t *o,
                           const void *in, void *out, const size_t *counts)
{
    size_t elem = o->reducer.elem, total = 0, at = 0;
    SW_ARRAY(sw_extent_t, list, s->here);
    for (int i = 0; i < s->n; i++)
        total += counts[i];
    for (int i = 0; i < s->here; i++) {
        size_t bytes = counts[s->rank[s->first[s->node] + i]] * elem;
        list[i] = (sw_extent_t){(int64_t)at, bytes};
        at += bytes;
    }
    char *sum = s->mine == 0 ? sw_temporary(total * elem) : NULL;
    char *part = s->mine == 0 ? sw_temporary(at) : NULL;
    int rc = reduce_on(s, 0, o, in, sum, total);
    if (s->mine == 0) {
        char *sorted = sum;
        if (!s->ordered) {
            sorted = sw_temporary(total * elem);
            sort_blocks(s, counts, elem, sum, sorted);
        }
        rc = sw_await_first_bad(rc, exchange(s, o, sorted, part, counts));
        if (sorted != sum)
            sw_temporary_free(sorted);
    }
    sw_data_t mine = sw_data_plain(out);
    rc = sw_await_first_bad(rc, sw_coll_scatter(s->sequence, 0, part,
                                                &(sw_blocks_t){.list = list},
                                                &mine, counts[s->me] * elem));
    sw_temporary_free(sum);
    sw_temporary_free(part);
    return rc;
}

/* out := before op out. */
static void put_before(const sw_reducer_t *r, const void *before, void *out,
                       size_t n)
{
    if (r->kernel)
        r->kernel(out, before, out, n);
    else
        r->user(r, before, out, n);
}

int sw_span_scan(sw_span_t *s, bool exclusive, const sw_operation_t *o,
                 const void *in, void *out, size_t n)
{
    size_t bytes = n * o->reducer.elem;
    bool follows = s->node > 0, leads = s->mine == 0;
    char *before = follows || leads ? sw_temporary(bytes) : NULL;
    char *sum = leads ? sw_temporary(bytes) : NULL;
    MPI_Request request;
    int code = MPI_SUCCESS, rc = reduce_on(s, 0, o, in, sum, n);
    if (leads)
        code = host.Iexscan(sum, before, (int)n, o->type->handle, o->op,
                            s->lane, &request);
    rc = sw_await_first_bad(
        rc, sw_coll_scan(s->sequence, exclusive, &o->reducer, in, out, n));
    if (leads)
        rc = sw_await_first_bad(rc, sw_span_await(s, &request, code, bytes));
    if (follows) {
        sw_data_t data = sw_data_plain(before);
        rc = sw_await_first_bad(rc,
                                sw_coll_bcast(s->sequence, 0, &data, bytes));
        if (exclusive && leads)
            memcpy(out, before, bytes);
        else
            put_before(&o->reducer, before, out, n);
    }
    sw_temporary_free(sum);
    sw_temporary_free(before);
    return rc;
}
