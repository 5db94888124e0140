/*
 * bcast.c - Bcast.
 *
 * Small: the root posts a copy and leaves. It may run ahead of the readers by
 * a turn of its column. Large: the members read the root's memory, all at once,
 * and the root stays until they are done.
 *
 * Beyond SW_FLAT members a small message goes down a tree that follows the
 * machine: each parent posts what it received. A large one is scattered and
 * gathered. Each member reads its own slice from the root, then the other
 * slices from the members that have them. So the root's memory is read once
 * in all, and every member's ports work.
 */
#include "climb.h"
#include "slice.h"
#include "node/temporary.h"

/* Copies the payload of `from` into the buffer, up to the shorter of both. */
static int take(sw_sequence_t *seq, int from, uint64_t step, uint32_t what,
                const sw_data_t *buffer, size_t bytes)
{
    sw_source_t source;
    int rc = sw_source(seq, from, step, what, &source);
    if (rc)
        return rc;
    rc = sw_source_put(&source, buffer, sw_min(bytes, source.bytes));
    return rc ? rc : source.bytes > bytes ? SW_TRUNCATED : SW_OK;
}

static int flat(sw_sequence_t *seq, int root, uint32_t what,
                const sw_data_t *buffer, size_t bytes)
{
    uint64_t step = ++seq->step;
    if (seq->me != root) {
        int rc = take(seq, root, step, what, buffer, bytes);
        sw_sequence_done(seq, step);
        return rc;
    }
    sw_exposed_t x;
    bool part = sw_payload_offer(
        seq, step, what, SW_READ_ALL,
        sw_payload_eager(seq->team->eager, buffer->layout), buffer, bytes, &x);
    sw_sequence_done(seq, step);
    if (part) {
        sw_sequence_await_done_all(seq, step);
        sw_expose_end(&x, false);
    }
    return SW_OK;
}

static int down_tree(sw_sequence_t *seq, int root, uint32_t what, char *buffer,
                     size_t bytes, int rc)
{
    int16_t child[SW_CHILDREN];
    uint64_t step = ++seq->step;
    if (seq->me != root)
        rc = take(seq, sw_tree_parent(seq->team->tree, root, seq->me), step,
                  what, &(sw_data_t){.at = buffer}, bytes);
    if (sw_tree_children(seq->team->tree, root, seq->me, child)) {
        if (sw_unlikely(sw_payload_hollow(rc)))
            sw_payload_stage_failure(seq, step, what, SW_READ_CHILDREN(root),
                                     rc);
        else
            sw_payload_stage(seq, step, what, SW_READ_CHILDREN(root), buffer,
                             bytes);
    }
    sw_sequence_done(seq, step);
    return rc;
}

int sw_bcast_down(sw_sequence_t *seq, char *buffer, size_t bytes, int failed)
{
    return down_tree(seq, 0, sw_sequence_what(SW_COLL_BCAST, 0), buffer, bytes,
                     seq->me == 0 ? failed : SW_OK);
}

static int scatter_gather(sw_sequence_t *seq, int root, uint32_t what,
                          char *buffer, size_t bytes)
{
    uint64_t step = seq->step + 1, end = step + 1;
    seq->step = end;
    sw_exposed_t x;
    sw_expose(seq, &x, buffer, bytes, seq->me == root);
    sw_entry_t *e = sw_sequence_claim(seq, step, SW_READ_ALL);
    e->what = what;
    e->form = (uint16_t)x.part.form;
    e->bytes = bytes;
    e->send = x.part;
    sw_sequence_post(seq, e, step);
    /* A slice's number is its reader's distance from the root, which needs
     * none. */
    int n = seq->n, mine = (seq->me - root + n) % n, rc = SW_OK;
    for (int k = 0; k < n - 1 && mine; k++) {
        int index = (mine - 1 + k) % (n - 1) + 1;
        int from = k == 0 ? root : (root + index) % n;
        sw_slice_t s = sw_slice(bytes, n - 1, index - 1, SW_LINE);
        sw_source_t source;
        int bad = sw_source(seq, from, step, what, &source);
        if (!bad && k > 0)
            sw_sequence_await_done(seq, from, step);
        if (!bad && source.bytes != bytes)
            bad = SW_TRUNCATED;
        if (!bad)
            bad = sw_source_copy(&source, s.start, buffer + s.start, s.count);
        if (k == 0) {
            if (!bad)
                sw_exposed_wrote(&x, s.start, s.count);
            sw_sequence_done(seq, step);
        }
        rc = rc ? rc : bad;
    }
    sw_sequence_fail(seq, end, sw_payload_hollow(rc));
    sw_sequence_done(seq, end);
    sw_sequence_await_done_all(seq, end);
    sw_expose_end(&x, false);
    return rc ? rc : sw_sequence_verdict(seq, end);
}

/* Beyond SW_FLAT members. */
static int many(sw_sequence_t *seq, int root, uint32_t what, char *buffer,
                size_t bytes)
{
    return bytes <= seq->team->stage_max
               ? down_tree(seq, root, what, buffer, bytes, SW_OK)
               : scatter_gather(seq, root, what, buffer, bytes);
}

/* Members read from each other what they have received: they pack it. */
static int many_scattered(sw_sequence_t *seq, int root, uint32_t what,
                          const sw_data_t *buffer, size_t bytes)
{
    sw_data_t packed = {.at = sw_temporary(bytes)};
    if (seq->me == root)
        sw_data_pack(buffer, bytes, packed.at);
    int rc = many(seq, root, what, packed.at, bytes);
    if (seq->me != root)
        sw_data_copy(&packed, buffer, 0, bytes);
    sw_temporary_free(packed.at);
    return rc;
}

int sw_coll_bcast(sw_sequence_t *seq, int root, const sw_data_t *buffer,
                  size_t bytes)
{
    uint32_t what = sw_sequence_what(SW_COLL_BCAST, root);
    if (bytes == 0) {
        /* Nothing to wait for. */
        sw_sequence_done(seq, ++seq->step);
        return SW_OK;
    }
    if (seq->n <= SW_FLAT)
        return flat(seq, root, what, buffer, bytes);
    return buffer->layout ? many_scattered(seq, root, what, buffer, bytes)
                          : many(seq, root, what, buffer->at, bytes);
}
