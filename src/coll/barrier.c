/*
 * barrier.c - Barrier: each member posts an empty entry and waits for all.
 *
 * Up to SW_FLAT members one step suffices: the misses on the others' lines
 * overlap. Beyond that a tree gathers the arrivals, and its root's second step
 * releases the members.
 */
#include "coll.h"

static void post_empty(sw_ring_t *ring, uint64_t step, uint32_t what,
                       int readers)
{
    sw_entry_t *e = sw_ring_claim(ring, step, readers);
    e->what = what;
    e->form = SW_FORM_INLINE;
    e->bytes = 0;
    sw_ring_post(ring, e, step);
}

static int expect(sw_ring_t *ring, int member, uint64_t step, uint32_t what)
{
    int rc = SW_OK;
    const sw_entry_t *e = sw_ring_await(ring, member, step, &rc);
    return e && e->what != what ? SW_MISMATCH : rc;
}

static int tree_barrier(sw_ring_t *ring, uint32_t what)
{
    int16_t child[SW_CHILDREN];
    uint64_t up = ring->step + 1, down = up + 1;
    int rc = SW_OK,
        count = sw_tree_children(ring->team->tree, 0, ring->me, child);
    ring->step = down;
    for (int i = 0; i < count; i++)
        rc |= expect(ring, child[i], up, what);
    if (ring->me != 0) {
        int parent = sw_tree_parent(ring->team->tree, 0, ring->me);
        post_empty(ring, up, what, parent);
        rc |= expect(ring, parent, down, what);
    }
    if (count)
        post_empty(ring, down, what, SW_READ_CHILDREN(0));
    sw_ring_done(ring, down);
    return rc ? sw_ring_mismatch(ring) : SW_OK;
}

int sw_coll_barrier(sw_ring_t *ring)
{
    uint32_t what = sw_what(SW_COLL_BARRIER, 0);
    if (ring->n > SW_FLAT)
        return tree_barrier(ring, what);
    uint64_t step = ++ring->step;
    int rc = SW_OK;
    post_empty(ring, step, what, SW_READ_ALL);
    for (int k = 1; k < ring->n; k++)
        rc |= expect(ring, sw_ring_right(ring, k), step, what);
    sw_ring_done(ring, step);
    ring->acked = step - 1;
    return rc ? sw_ring_mismatch(ring) : SW_OK;
}
