/*
 * bcast.c - Bcast.
 *
 * Small: the root posts a copy and leaves; it runs ahead of the readers by a
 * turn of the ring. Large: the members read the root's memory, all at once,
 * and the root stays until they are done.
 *
 * Beyond SW_FLAT members: small ones go down a tree that follows the machine,
 * each parent posting what it got. Large ones are scattered and gathered: each
 * member reads its own slice from the root, then the other slices from the
 * members that have them, so that the root's memory is read once in all and
 * every member's ports work.
 */
#include "coll.h"
#include "slice.h"
#include "node/temporary.h"

/* Take the payload of `from` into the buffer, as far as both go. */
static int take(sw_group_t *g, int from, uint64_t step, uint32_t what,
                const sw_data_t *buffer, size_t bytes)
{
    sw_source_t source;
    int rc = sw_source(g, from, step, what, &source);
    if (rc)
        return rc;
    rc = sw_source_put(&source, buffer, sw_min(bytes, source.bytes));
    return rc ? rc : source.bytes > bytes ? SW_TRUNCATED : SW_OK;
}

static int flat(sw_group_t *g, int root, uint32_t what,
                const sw_data_t *buffer, size_t bytes)
{
    uint64_t step = ++g->step;
    if (g->me != root) {
        int rc = take(g, root, step, what, buffer, bytes);
        sw_done(g, step);
        return rc;
    }
    sw_exposed_t x;
    bool part = sw_offer(g, step, what, SW_READ_ALL,
                         sw_eager(g->eager, buffer->layout), buffer, bytes,
                         &x);
    sw_done(g, step);
    if (part) {
        sw_await_done_all(g, step);
        sw_unexpose(&x, false);
    }
    return SW_OK;
}

static int down_tree(sw_group_t *g, int root, uint32_t what, char *buffer,
                     size_t bytes)
{
    int16_t child[SW_CHILDREN];
    uint64_t step = ++g->step;
    int rc = SW_OK;
    if (g->me != root)
        rc = take(g, sw_tree_parent(g->tree, root, g->me), step, what,
                  &(sw_data_t){.at = buffer}, bytes);
    if (sw_tree_children(g->tree, root, g->me, child))
        sw_stage(g, step, what, SW_READ_CHILDREN(root), buffer, bytes);
    sw_done(g, step);
    return rc;
}

static int scatter_gather(sw_group_t *g, int root, uint32_t what,
                          char *buffer, size_t bytes)
{
    uint64_t step = g->step + 1, end = step + 1;
    g->step = end;
    sw_exposed_t x;
    sw_expose(g, &x, buffer, bytes, g->me == root);
    sw_entry_t *e = sw_claim(g, step, SW_READ_ALL);
    e->what = what;
    e->form = (uint16_t)x.part.form;
    e->bytes = bytes;
    e->send = x.part;
    sw_post(g, e, step);
    /* Slices are numbered by distance from the root, which needs none. */
    int n = g->n, mine = (g->me - root + n) % n, rc = SW_OK;
    for (int k = 0; k < n - 1 && mine; k++) {
        int index = (mine - 1 + k) % (n - 1) + 1;
        int from = k == 0 ? root : (root + index) % n;
        sw_slice_t s = sw_slice(bytes, n - 1, index - 1, SW_LINE);
        sw_source_t source;
        int bad = sw_source(g, from, step, what, &source);
        if (!bad && k > 0)
            sw_await_done(g, from, step);
        if (!bad && source.bytes != bytes)
            bad = SW_TRUNCATED;
        if (!bad)
            bad = sw_source_copy(&source, s.start, buffer + s.start, s.count);
        if (k == 0) {
            if (!bad)
                sw_exposed_wrote(&x, s.start, s.count);
            sw_done(g, step);
        }
        rc = rc ? rc : bad;
    }
    sw_done(g, end);
    sw_await_done_all(g, end);
    sw_unexpose(&x, false);
    return rc;
}

/* Beyond SW_FLAT members. */
static int many(sw_group_t *g, int root, uint32_t what, char *buffer,
                size_t bytes)
{
    return bytes <= g->stage_max
               ? down_tree(g, root, what, buffer, bytes)
               : scatter_gather(g, root, what, buffer, bytes);
}

/* Others read what a member has received: packed. */
static int many_scattered(sw_group_t *g, int root, uint32_t what,
                          const sw_data_t *buffer, size_t bytes)
{
    sw_data_t packed = {.at = sw_temporary(bytes)};
    if (g->me == root)
        sw_data_pack(buffer, bytes, packed.at);
    int rc = many(g, root, what, packed.at, bytes);
    if (g->me != root)
        sw_data_copy(&packed, buffer, 0, bytes);
    sw_temporary_free(packed.at);
    return rc;
}

int sw_coll_bcast(sw_group_t *g, int root, const sw_data_t *buffer,
                  size_t bytes)
{
    uint32_t what = sw_what(SW_COLL_BCAST, root);
    if (bytes == 0) {
        /* Nothing to wait for. */
        sw_done(g, ++g->step);
        return SW_OK;
    }
    if (g->n <= SW_FLAT)
        return flat(g, root, what, buffer, bytes);
    return buffer->layout ? many_scattered(g, root, what, buffer, bytes)
                          : many(g, root, what, buffer->at, bytes);
}
