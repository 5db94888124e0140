/*
 * climb.c - see climb.h.
 *
 * A commutative operation follows the tree of the machine. Any other follows
 * the tree of contiguous ranks: there a node's own operand comes first, and its
 * children's operands follow in rank order.
 */
#include "climb.h"

#include <stdlib.h>

int sw_climb(sw_sequence_t *seq, uint64_t step, uint32_t what, int root,
             const sw_reducer_t *r, const void *in, void *out, size_t n)
{
    const sw_tree_t *tree = r->commutative ? seq->team->tree
                                           : seq->team->ordered;
    int16_t child[SW_CHILDREN];
    sw_source_t from[SW_FEW];
    int count = sw_tree_children(tree, root, seq->me, child), rc = SW_OK;
    size_t bytes = n * r->elem;
    const int room = (int)(sizeof from / sizeof from[0]);
    char *partial = NULL;
    const void *mine = in;
    /* A node with many children combines a few at a time. */
    for (int i = 0; i < count;) {
        int have = 0;
        from[have++] = sw_source_own(mine, bytes);
        for (; i < count && have < room && !rc; i++, have++) {
            rc = sw_source(seq, child[i], step, what, &from[have]);
            if (!rc && from[have].bytes != bytes)
                rc = SW_TRUNCATED;
        }
        if (rc)
            break;
        if (!partial && seq->me != root)
            partial = malloc(bytes + 1);
        void *to = seq->me == root ? out : partial;
        rc = to ? sw_reducer_combine(seq, r, from, have, 0, to, n) : SW_NO_ROOM;
        if (to)
            mine = to;
    }
    if (seq->me != root) {
        int parent = sw_tree_parent(tree, root, seq->me);
        if (sw_unlikely(sw_payload_hollow(rc)))
            sw_payload_stage_failure(seq, step, what, parent, rc);
        else
            sw_payload_stage(seq, step, what, parent, mine, bytes);
    } else if (count == 0 && out != in) {
        sw_copy(out, in, bytes);
    }
    free(partial);
    return rc;
}
