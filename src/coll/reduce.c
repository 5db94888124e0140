/*
 * reduce.c - Reduce.
 *
 * Small: the members stage their operands and leave; the root combines them in
 * rank order (beyond SW_FLAT members: up a tree). Large: each member combines
 * one slice of all operands straight into the root's result. So the members
 * share the work and the reading, and stage nothing.
 */
#include "ask.h"
#include "climb.h"
#include "exchange.h"
#include "slice.h"

#include <stdlib.h>

/* A member sends its result in blocks where it cannot store it directly. */
#define BLOCK 65536

static int staged(sw_sequence_t *seq, int root, uint32_t what,
                  const sw_reducer_t *r, const void *in, void *out, size_t n)
{
    uint64_t step = ++seq->step;
    int rc = SW_OK;
    if (seq->me == root) {
        sw_source_t from[SW_FLAT];
        rc = sw_sources(seq, step, what, in, n * r->elem, from);
        if (!rc)
            rc = sw_reducer_combine(seq, r, from, seq->n, 0, out, n);
    } else {
        sw_payload_stage(seq, step, what, root, in, n * r->elem);
    }
    sw_sequence_done(seq, step);
    return rc;
}

/* Combines up a tree. Operands in rank order can only climb to member 0, which
 * passes the result on to another root in a second step. */
static int climbed(sw_sequence_t *seq, int root, uint32_t what,
                   const sw_reducer_t *r, const void *in, void *out, size_t n)
{
    size_t bytes = n * r->elem;
    uint64_t step = ++seq->step;
    if (r->commutative || root == 0) {
        int rc = sw_climb(seq, step, what, root, r, in, out, n);
        sw_sequence_done(seq, step);
        return rc;
    }
    int rc = SW_OK;
    uint64_t pass = ++seq->step;
    if (seq->me == 0) {
        SW_BYTES(result, bytes);
        rc = sw_climb(seq, step, what, 0, r, in, result, n);
        if (sw_unlikely(sw_payload_hollow(rc)))
            sw_payload_stage_failure(seq, pass, what, root, rc);
        else
            sw_payload_stage(seq, pass, what, root, result, bytes);
    } else {
        rc = sw_climb(seq, step, what, 0, r, in, NULL, n);
    }
    sw_sequence_done(seq, step);
    if (seq->me == root) {
        sw_source_t from;
        int bad = sw_source(seq, 0, pass, what, &from);
        if (!bad)
            bad = sw_source_copy(&from, 0, out, sw_min(bytes, from.bytes));
        rc = rc ? rc : bad;
    }
    sw_sequence_done(seq, pass);
    return rc;
}

/* My slice of the result, to wherever the root's memory can be reached. */
static int put_slice(sw_sequence_t *seq, int root, const sw_reducer_t *r,
                     const sw_source_t *from, const sw_part_t *out, void *own,
                     sw_slice_t s)
{
    uint64_t at = s.start * r->elem;
    char *to = seq->me == root ? (char *)own + at
                               : sw_peer_window(seq->peer[root], out, at);
    if (to || s.count == 0)
        return sw_reducer_combine(seq, r, from, seq->n, at, to, s.count);
    size_t step = sw_max(BLOCK / r->elem, 1);
    char *block = malloc(step * r->elem);
    int rc = block ? SW_OK : SW_NO_ROOM;
    for (size_t i = 0; i < s.count && !rc; i += step) {
        size_t now = sw_min(step, s.count - i);
        rc = sw_reducer_combine(seq, r, from, seq->n, at + i * r->elem, block,
                                now);
        if (!rc)
            rc = sw_sequence_write(seq, root, out, at + i * r->elem, block,
                                   now * r->elem);
    }
    free(block);
    return rc;
}

static int sliced(sw_sequence_t *seq, int root, uint32_t what,
                  const sw_reducer_t *r, const void *in, void *out, size_t n)
{
    uint64_t step = ++seq->step;
    sw_exchange_t x;
    SW_ARRAY(sw_source_t, from, seq->n);
    SW_ARRAY(sw_part_t, outs, seq->n);
    bool is_root = seq->me == root;
    int rc = sw_exchange(seq, step, what, in, is_root ? out : NULL, n * r->elem,
                         &x, from, outs);
    sw_slice_t s = sw_slice(n, seq->n, seq->me, sw_slice_grain(r->elem));
    if (!rc && !sw_sequence_touch(seq))
        rc = SW_BROKEN;
    if (!rc) {
        rc = put_slice(seq, root, r, from, &outs[root], out, s);
        sw_sequence_touched(seq);
    }
    if (is_root)
        sw_exposed_wrote(&x.out, s.start * r->elem, s.count * r->elem);
    sw_sequence_fail(seq, step, sw_payload_hollow(rc));
    sw_sequence_done(seq, step);
    sw_sequence_await_done_all(seq, step);
    sw_exchange_end(&x, is_root);
    return rc ? rc : sw_sequence_verdict(seq, step);
}

int sw_coll_reduce(sw_sequence_t *seq, int root, const sw_reducer_t *r,
                   const void *in, void *out, size_t n)
{
    uint32_t what = sw_sequence_what(SW_COLL_REDUCE, root);
    size_t bytes = n * r->elem;
    if (seq->n > SW_FLAT && bytes <= seq->team->stage_max)
        return climbed(seq, root, what, r, in, out, n);
    if (bytes < seq->team->slice)
        return staged(seq, root, what, r, in, out, n);
    return sliced(seq, root, what, r, in, out, n);
}
