/*
 * scan.c - Scan and Exscan.
 *
 * Small: each member stages its operand, and member i combines those of members
 * 0 .. i (below i if exclusive): one step of latency. Where ranks take turns
 * on a core, work counts and not latency. Then each member passes a prefix to
 * the next, in the same order of operations.
 *
 * Large: member k owns slice k of all operands and results. It walks the
 * members in rank order once, keeping the running prefix of its slice. It
 * stores each prefix into the result of the member it belongs to. So every
 * operand is read once and every result written once, in all.
 */
#include "ask.h"
#include "exchange.h"
#include "slice.h"

#include <stdlib.h>

/* Bytes of one block of a slice: the prefix stays in the first cache. */
#define BLOCK 16384

static int staged(sw_sequence_t *seq, bool exclusive, uint32_t what,
                  const sw_reducer_t *r, const void *in, void *out, size_t n)
{
    uint64_t step = ++seq->step;
    size_t bytes = n * r->elem;
    SW_ARRAY(sw_source_t, from, seq->n);
    /* No member reads the last one's. */
    if (seq->me < seq->n - 1)
        sw_payload_stage(seq, step, what, SW_READ_ALL, in, bytes);
    int rc = SW_OK, count = seq->me + !exclusive;
    from[seq->me] = sw_source_own(in, bytes);
    for (int i = 0; i < seq->me; i++) {
        int bad = sw_source(seq, i, step, what, &from[i]);
        if (!bad && from[i].bytes != bytes)
            bad = SW_TRUNCATED;
        rc = rc ? rc : bad;
    }
    if (!rc && count)
        rc = sw_reducer_combine_in(&seq->scratch, r, SW_ORDER_LINE, from, count,
                                   0, out, n);
    sw_sequence_done(seq, step);
    return rc;
}

static int passed_on(sw_sequence_t *seq, bool exclusive, uint32_t what,
                     const sw_reducer_t *r, const void *in, void *out, size_t n)
{
    uint64_t step = ++seq->step;
    size_t bytes = n * r->elem;
    int rc = SW_OK, next = seq->me + 1;
    SW_BYTES(prefix, bytes); /* up to and including me */
    sw_source_t from[2] = {{.at = NULL}, sw_source_own(in, bytes)};
    if (seq->me > 0) {
        rc = sw_source(seq, seq->me - 1, step, what, &from[0]);
        if (!rc && from[0].bytes != bytes)
            rc = SW_TRUNCATED;
        if (!rc && (next < seq->n || !exclusive))
            rc = sw_reducer_combine(seq, r, from, 2, 0, prefix, n);
    }
    const void *mine = seq->me > 0 && !rc ? prefix : in;
    if (next < seq->n && sw_unlikely(sw_payload_hollow(rc)))
        sw_payload_stage_failure(seq, step, what, next, rc);
    else if (next < seq->n)
        sw_payload_stage(seq, step, what, next, mine, bytes);
    if (!rc && !exclusive && out != mine)
        sw_copy(out, mine, bytes);
    if (!rc && exclusive && seq->me > 0)
        rc = sw_source_copy(&from[0], 0, out, bytes);
    sw_sequence_done(seq, step);
    return rc;
}

/* Stores a block of the prefix into member i's result. */
static int put(sw_sequence_t *seq, int i, const sw_part_t *outs, void *own,
               uint64_t at, const char *prefix, size_t bytes)
{
    if (i == seq->me) {
        sw_copy((char *)own + at, prefix, bytes);
        return SW_OK;
    }
    return sw_sequence_write(seq, i, &outs[i], at, prefix, bytes);
}

/* One block for all members: a[] is the prefix, b[] the next operand. */
static int walk(sw_sequence_t *seq, bool exclusive, const sw_reducer_t *r,
                const sw_source_t *from, const sw_part_t *outs, void *own,
                uint64_t at, size_t n, char *a, char *b)
{
    size_t bytes = n * r->elem;
    int rc = sw_source_copy(&from[0], at, a, bytes);
    if (!rc && !exclusive)
        rc = put(seq, 0, outs, own, at, a, bytes);
    for (int i = 1; i < seq->n && !rc; i++) {
        /* The last operand of an exclusive scan is in no result. With
         * MPI_IN_PLACE an operand is read before its place is written. */
        const char *next = from[i].at ? from[i].at + at : b;
        bool direct = r->kernel && from[i].at && !exclusive;
        if (!direct) {
            rc = sw_source_copy(&from[i], at, b, bytes);
            next = b;
        }
        if (!rc && exclusive)
            rc = put(seq, i, outs, own, at, a, bytes);
        if (rc)
            break;
        if (r->kernel) {
            r->kernel(a, a, next, n);
        } else {
            r->user(r, a, b, n);
            char *swap = a;
            a = b;
            b = swap;
        }
        if (!exclusive)
            rc = put(seq, i, outs, own, at, a, bytes);
    }
    return rc;
}

static int sliced(sw_sequence_t *seq, bool exclusive, uint32_t what,
                  const sw_reducer_t *r, const void *in, void *out, size_t n)
{
    uint64_t step = ++seq->step;
    sw_exchange_t x;
    SW_ARRAY(sw_source_t, from, seq->n);
    SW_ARRAY(sw_part_t, outs, seq->n);
    bool has_out = !exclusive || seq->me > 0;
    int rc = sw_exchange(seq, step, what, in, has_out ? out : NULL, n * r->elem,
                         &x, from, outs);
    sw_slice_t s = sw_slice(n, seq->n, seq->me, sw_slice_grain(r->elem));
    size_t each = sw_max(BLOCK / r->elem, 1);
    size_t half = sw_round_up(each * r->elem, SW_LINE);
    char *scratch = sw_scratch(&seq->scratch, 2 * half);
    if (!scratch)
        rc = SW_NO_ROOM;
    if (!rc && !sw_sequence_touch(seq))
        rc = SW_BROKEN;
    for (size_t i = 0; i < s.count && !rc; i += each)
        rc = walk(seq, exclusive, r, from, outs, out, (s.start + i) * r->elem,
                  sw_min(each, s.count - i), scratch, scratch + half);
    sw_sequence_touched(seq);
    if (has_out)
        sw_exposed_wrote(&x.out, s.start * r->elem, s.count * r->elem);
    sw_sequence_fail(seq, step, sw_payload_hollow(rc));
    sw_sequence_done(seq, step);
    sw_sequence_await_done_all(seq, step);
    sw_exchange_end(&x, has_out);
    return rc ? rc : sw_sequence_verdict(seq, step);
}

int sw_coll_scan(sw_sequence_t *seq, bool exclusive, const sw_reducer_t *r,
                 const void *in, void *out, size_t n)
{
    uint32_t what = sw_sequence_what(exclusive ? SW_COLL_EXSCAN : SW_COLL_SCAN,
                                     0);
    if (n * r->elem < seq->team->slice)
        return seq->team->crowded
                   ? passed_on(seq, exclusive, what, r, in, out, n)
                   : staged(seq, exclusive, what, r, in, out, n);
    return sliced(seq, exclusive, what, r, in, out, n);
}
