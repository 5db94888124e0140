/*
 * tree.h - trees over the members of a communicator that follow the machine.
 *
 * Data should cross the slow links (between packages, NUMA nodes, L3 caches)
 * once, and no member should serve too many others. So the tree is built from
 * the inside out. Members that share an L3 are cut in rank order into chunks
 * of at most `fanout`; the lowest rank of a chunk is the parent of the rest;
 * these leaders are cut again, until the L3 has one leader. Then the same with
 * the leaders of each NUMA node, each package, the machine:
 *
 *        package 0               package 1          fanout 4
 *     L3: 0 1 2 3 4 5 6 7     L3: 8 9 10 11
 *         0 - 1 2 3               8 - 9 10 11       chunks of the L3s
 *         4 - 5 6 7
 *         0 - 4                                     their leaders
 *         0 --------------------- 8                 leaders of packages
 *
 * A domain with one member costs no level. The result hangs on the locations
 * alone: all members, given the same table, build the same tree.
 *
 * The tree is kept rooted at member 0. Seen from another root, only the edges
 * on the path between the two change direction. So re-rooting is a question
 * answered in O(depth), not a new tree. The edges stay the same, and with them
 * the crossings of slow links.
 */
#ifndef SW_TOPOLOGY_TREE_H
#define SW_TOPOLOGY_TREE_H

#include "location.h"

#define SW_TREE_MOST 32767 /* members */

/* In the caller's memory; holds no pointers, so it may be copied or shared.
 *
 *   cell: parent[n] | level[n] | first[n + 1] | child[n] | scratch
 *
 * parent[0] is -1; level is the distance to member 0; the children of m are
 * child[first[m]] to child[first[m + 1] - 1], the nearest domain's first. */
typedef struct sw_tree {
    int32_t n;
    int32_t deepest; /* greatest level */
    bool ordered;    /* see sw_tree_ordered */
    int16_t cell[];
} sw_tree_t;

/* The memory a tree of n members takes, in bytes; alignment 4. */
SW_API size_t sw_tree_bytes(int n);

/* Build the tree of n members (1 to SW_TREE_MOST) at where[0..n-1]. A fanout
 * below 2 is taken as 2. */
SW_API void sw_tree_build(const sw_location_t *where, int n, int fanout,
                          sw_tree_t *to);

/* Build a tree for reductions that do not commute: each subtree covers a
 * contiguous range of ranks of which its root is the first, and the children
 * follow in the order of their ranges. Locations are not looked at. */
SW_API void sw_tree_build_ordered(int n, int fanout, sw_tree_t *to);

/* True where a tree has that property, however it was built: so it is for
 * sw_tree_build where ranks were placed in order, and then the tree that
 * follows the machine serves non-commutative reductions too. */
static inline bool sw_tree_ordered(const sw_tree_t *tree)
{
    return tree->ordered;
}

/* The parent of `me` in the tree seen from `root`; -1 for the root. */
SW_API int sw_tree_parent(const sw_tree_t *tree, int root, int me);

/* The children of `me` in the tree seen from `root`, into list (room for n);
 * returns how many. Seen from root 0 they come in the tree's own order; what
 * re-rooting made a child comes last. */
SW_API int sw_tree_children(const sw_tree_t *tree, int root, int me,
                            int16_t *list);

/* Edges between `root` and the member farthest from it. */
SW_API int sw_tree_depth(const sw_tree_t *tree, int root);

#endif
