/*
 * bcast.c - Bcast.
 *
 * Small: the root posts a copy and leaves. It may run ahead of the readers by
 * a turn of the ring. Large: the members read the root's memory, all at once,
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
static int take(sw_ring_t *ring, int from, uint64_t step, uint32_t what,
                const sw_data_t *buffer, size_t bytes)
{
    sw_source_t source;
    int rc = sw_source(ring, from, step, what, &source);
    if (rc)
        return rc;
    rc = sw_source_put(&source, buffer, sw_min(bytes, source.bytes));
    return rc ? rc : source.bytes > bytes ? SW_TRUNCATED : SW_OK;
}

static int flat(sw_ring_t *ring, int root, uint32_t what,
                const sw_data_t *buffer, size_t bytes)
{
    uint64_t step = ++ring->step;
    if (ring->me != root) {
        int rc = take(ring, root, step, what, buffer, bytes);
        sw_ring_done(ring, step);
        return rc;
    }
    sw_exposed_t x;
    bool part = sw_offer(ring, step, what, SW_READ_ALL,
                         sw_eager(ring->team->eager, buffer->layout), buffer,
                         bytes, &x);
    sw_ring_done(ring, step);
    if (part) {
        sw_ring_await_done_all(ring, step);
        sw_unexpose(&x, false);
    }
    return SW_OK;
}

static int down_tree(sw_ring_t *ring, int root, uint32_t what, char *buffer,
                     size_t bytes, int rc)
{
    int16_t child[SW_CHILDREN];
    uint64_t step = ++ring->step;
    if (ring->me != root)
        rc = take(ring, sw_tree_parent(ring->team->tree, root, ring->me), step,
                  what, &(sw_data_t){.at = buffer}, bytes);
    if (sw_tree_children(ring->team->tree, root, ring->me, child)) {
        if (sw_unlikely(sw_hollow(rc)))
            sw_stage_failure(ring, step, what, SW_READ_CHILDREN(root), rc);
        else
            sw_stage(ring, step, what, SW_READ_CHILDREN(root), buffer, bytes);
    }
    sw_ring_done(ring, step);
    return rc;
}

int sw_bcast_down(sw_ring_t *ring, char *buffer, size_t bytes, int failed)
{
    return down_tree(ring, 0, sw_what(SW_COLL_BCAST, 0), buffer, bytes,
                     ring->me == 0 ? failed : SW_OK);
}

static int scatter_gather(sw_ring_t *ring, int root, uint32_t what,
                          char *buffer, size_t bytes)
{
    uint64_t step = ring->step + 1, end = step + 1;
    ring->step = end;
    sw_exposed_t x;
    sw_expose(ring, &x, buffer, bytes, ring->me == root);
    sw_entry_t *e = sw_ring_claim(ring, step, SW_READ_ALL);
    e->what = what;
    e->form = (uint16_t)x.part.form;
    e->bytes = bytes;
    e->send = x.part;
    sw_ring_post(ring, e, step);
    /* A slice's number is its reader's distance from the root, which needs
     * none. */
    int n = ring->n, mine = (ring->me - root + n) % n, rc = SW_OK;
    for (int k = 0; k < n - 1 && mine; k++) {
        int index = (mine - 1 + k) % (n - 1) + 1;
        int from = k == 0 ? root : (root + index) % n;
        sw_slice_t s = sw_slice(bytes, n - 1, index - 1, SW_LINE);
        sw_source_t source;
        int bad = sw_source(ring, from, step, what, &source);
        if (!bad && k > 0)
            sw_ring_await_done(ring, from, step);
        if (!bad && source.bytes != bytes)
            bad = SW_TRUNCATED;
        if (!bad)
            bad = sw_source_copy(&source, s.start, buffer + s.start, s.count);
        if (k == 0) {
            if (!bad)
                sw_exposed_wrote(&x, s.start, s.count);
            sw_ring_done(ring, step);
        }
        rc = rc ? rc : bad;
    }
    sw_ring_fail(ring, end, sw_hollow(rc));
    sw_ring_done(ring, end);
    sw_ring_await_done_all(ring, end);
    sw_unexpose(&x, false);
    return rc ? rc : sw_ring_verdict(ring, end);
}

/* Beyond SW_FLAT members. */
static int many(sw_ring_t *ring, int root, uint32_t what, char *buffer,
                size_t bytes)
{
    return bytes <= ring->team->stage_max
               ? down_tree(ring, root, what, buffer, bytes, SW_OK)
               : scatter_gather(ring, root, what, buffer, bytes);
}

/* Members read from each other what they have received: they pack it. */
static int many_scattered(sw_ring_t *ring, int root, uint32_t what,
                          const sw_data_t *buffer, size_t bytes)
{
    sw_data_t packed = {.at = sw_temporary(bytes)};
    if (ring->me == root)
        sw_data_pack(buffer, bytes, packed.at);
    int rc = many(ring, root, what, packed.at, bytes);
    if (ring->me != root)
        sw_data_copy(&packed, buffer, 0, bytes);
    sw_temporary_free(packed.at);
    return rc;
}

int sw_coll_bcast(sw_ring_t *ring, int root, const sw_data_t *buffer,
                  size_t bytes)
{
    uint32_t what = sw_what(SW_COLL_BCAST, root);
    if (bytes == 0) {
        /* Nothing to wait for. */
        sw_ring_done(ring, ++ring->step);
        return SW_OK;
    }
    if (ring->n <= SW_FLAT)
        return flat(ring, root, what, buffer, bytes);
    return buffer->layout ? many_scattered(ring, root, what, buffer, bytes)
                          : many(ring, root, what, buffer->at, bytes);
}
