/*
 * barrier.c - Barrier: each member posts an empty entry and waits for all.
 *
 * Up to SW_FLAT members one step suffices: the misses on the others' lines
 * overlap. Beyond that a tree gathers the arrivals, and its root's second step
 * releases the members.
 */
#include "coll.h"

static void post_empty(sw_sequence_t *seq, uint64_t step, uint32_t what,
                       int readers)
{
    sw_entry_t *e = sw_sequence_claim(seq, step, readers);
    e->what = what;
    e->form = SW_FORM_INLINE;
    e->bytes = 0;
    sw_sequence_post(seq, e, step);
}

static int expect(sw_sequence_t *seq, int member, uint64_t step, uint32_t what)
{
    int rc = SW_OK;
    const sw_entry_t *e = sw_sequence_await(seq, member, step, &rc);
    return e && e->what != what ? SW_MISMATCH : rc;
}

static int tree_barrier(sw_sequence_t *seq, uint32_t what)
{
    int16_t child[SW_CHILDREN];
    uint64_t up = seq->step + 1, down = up + 1;
    int rc = SW_OK,
        count = sw_tree_children(seq->team->tree, 0, seq->me, child);
    seq->step = down;
    for (int i = 0; i < count; i++)
        rc |= expect(seq, child[i], up, what);
    if (seq->me != 0) {
        int parent = sw_tree_parent(seq->team->tree, 0, seq->me);
        post_empty(seq, up, what, parent);
        rc |= expect(seq, parent, down, what);
    }
    if (count)
        post_empty(seq, down, what, SW_READ_CHILDREN(0));
    sw_sequence_done(seq, down);
    return rc ? sw_sequence_mismatch(seq) : SW_OK;
}

int sw_coll_barrier(sw_sequence_t *seq)
{
    uint32_t what = sw_sequence_what(SW_COLL_BARRIER, 0);
    if (seq->n > SW_FLAT)
        return tree_barrier(seq, what);
    uint64_t step = ++seq->step;
    int rc = SW_OK;
    post_empty(seq, step, what, SW_READ_ALL);
    for (int k = 1; k < seq->n; k++)
        rc |= expect(seq, sw_sequence_right(seq, k), step, what);
    sw_sequence_done(seq, step);
    seq->acked = step - 1;
    return rc ? sw_sequence_mismatch(seq) : SW_OK;
}
