/*
 * barrier.c - Barrier: everybody posts an empty entry, everybody sees all.
 *
 * Up to SW_FLAT members one step does: the misses on the others' lines overlap.
 * Beyond, a tree gathers arrivals and its root's second step releases.
 */
#include "coll.h"

static void post_empty(sw_group_t *g, uint64_t step, uint32_t what,
                       int readers)
{
    sw_entry_t *e = sw_claim(g, step, readers);
    e->what = what;
    e->form = SW_FORM_INLINE;
    e->bytes = 0;
    sw_post(g, e, step);
}

static int expect(sw_group_t *g, int member, uint64_t step, uint32_t what)
{
    int rc = SW_OK;
    const sw_entry_t *e = sw_await(g, member, step, &rc);
    return e && e->what != what ? SW_MISMATCH : rc;
}

static int tree_barrier(sw_group_t *g, uint32_t what)
{
    int16_t child[SW_CHILDREN];
    uint64_t up = g->step + 1, down = up + 1;
    int rc = SW_OK, count = sw_tree_children(g->tree, 0, g->me, child);
    g->step = down;
    for (int i = 0; i < count; i++)
        rc |= expect(g, child[i], up, what);
    if (g->me != 0) {
        int parent = sw_tree_parent(g->tree, 0, g->me);
        post_empty(g, up, what, parent);
        rc |= expect(g, parent, down, what);
    }
    if (count)
        post_empty(g, down, what, SW_READ_CHILDREN(0));
    sw_done(g, down);
    return rc ? sw_mismatch(g) : SW_OK;
}

int sw_coll_barrier(sw_group_t *g)
{
    uint32_t what = sw_what(SW_COLL_BARRIER, 0);
    if (g->n > SW_FLAT)
        return tree_barrier(g, what);
    uint64_t step = ++g->step;
    int rc = SW_OK;
    post_empty(g, step, what, SW_READ_ALL);
    for (int k = 1; k < g->n; k++)
        rc |= expect(g, sw_neighbour(g, k), step, what);
    sw_done(g, step);
    g->acked = step - 1;
    return rc ? sw_mismatch(g) : SW_OK;
}
