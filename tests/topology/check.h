/*
 * check.h - what every tree must promise, checked from the outside.
 */
#ifndef SW_TEST_TOPOLOGY_CHECK_H
#define SW_TEST_TOPOLOGY_CHECK_H

#include "topology/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define fail(...)                                    \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), \
     fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

static void *grab(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        fail("no memory");
    memset(p, 0x5a, size);
    return p;
}

/* How often a group of `count` is cut before one is left. */
static inline int rounds(int count, int fanout)
{
    int r = 0;
    for (; count > 1; r++)
        count = (count + fanout - 1) / fanout;
    return r;
}

/* Is m the lowest rank of its domain at this level? */
static inline bool leads(const sw_location_t *where, int m, int level)
{
    for (int k = 0; k < m; k++)
        if ((int)sw_location_share(&where[k], &where[m]) <= level)
            return false;
    return true;
}

/* Each member is reached once from `root`, parent and children agree, and
 * the depth is what sw_tree_depth says. Returns the depth. */
static inline int check_root(const sw_tree_t *tree, int root)
{
    int n = tree->n, head = 0, tail = 0, depth = 0;
    int *queue = grab((size_t)n * sizeof *queue);
    int *level = grab((size_t)n * sizeof *level);
    int16_t *list = grab((size_t)n * sizeof *list);
    for (int m = 0; m < n; m++)
        level[m] = -1;
    if (sw_tree_parent(tree, root, root) != -1)
        fail("root %d has a parent", root);
    queue[tail++] = root;
    level[root] = 0;
    while (head < tail) {
        int m = queue[head++];
        int count = sw_tree_children(tree, root, m, list);
        depth = level[m] > depth ? level[m] : depth;
        for (int i = 0; i < count; i++) {
            int c = list[i];
            if (c < 0 || c >= n || level[c] >= 0)
                fail("root %d: member %d is reached twice", root, c);
            if (sw_tree_parent(tree, root, c) != m)
                fail("root %d: %d is a child of %d but its parent is %d", root,
                     c, m, sw_tree_parent(tree, root, c));
            level[c] = level[m] + 1;
            queue[tail++] = c;
        }
    }
    if (tail != n)
        fail("root %d reaches %d of %d members", root, tail, n);
    if (sw_tree_depth(tree, root) != depth)
        fail("root %d: depth %d, said to be %d", root, depth,
             sw_tree_depth(tree, root));
    free(queue);
    free(level);
    free(list);
    return depth;
}

/* The end of the contiguous range that m's subtree covers, its children in
 * order; -1: it does not. */
static inline int range_end(const sw_tree_t *tree, int m)
{
    int16_t *list = grab((size_t)tree->n * sizeof *list);
    int count = sw_tree_children(tree, 0, m, list), next = m + 1;
    for (int i = 0; i < count && next >= 0; i++)
        next = list[i] == next ? range_end(tree, next) : -1;
    free(list);
    return next;
}

/* A tree in memory of exactly its size, with a guard behind it. */
static inline sw_tree_t *make_tree(const sw_location_t *where, int n,
                                   int fanout)
{
    size_t bytes = sw_tree_bytes(n);
    char *memory = grab(bytes + 16);
    sw_tree_t *tree = (sw_tree_t *)memory;
    if (where)
        sw_tree_build(where, n, fanout, tree);
    else
        sw_tree_build_ordered(n, fanout, tree);
    for (int i = 0; i < 16; i++)
        if (memory[bytes + (size_t)i] != 0x5a)
            fail("the tree of %d is bigger than sw_tree_bytes", n);
    return tree;
}

/* All that tree.h promises of sw_tree_build. */
static inline void check_tree(const sw_location_t *where, int n, int fanout)
{
    sw_tree_t *tree = make_tree(where, n, fanout);
    sw_tree_t *again = make_tree(where, n, fanout);
    for (int m = 0; m < n; m++)
        if (sw_tree_parent(tree, 0, m) != sw_tree_parent(again, 0, m))
            fail("two builds differ");
    free(again);

    int step = n > 64 ? n / 17 : 1;
    int depth = check_root(tree, 0);
    for (int root = 0; root < n; root += step)
        check_root(tree, root);
    check_root(tree, n - 1);

    /* Domains and the bound on the depth; items are what a domain's leader
     * gathers: members in an L3, the leaders of the next smaller domains. */
    int bound = 0, domains[SW_SHARE_COUNT] = {0};
    int cut[SW_SHARE_COUNT] = {0};
    for (int level = 0; level < SW_SHARE_COUNT; level++) {
        for (int m = 0; m < n; m++) {
            if (!leads(where, m, level))
                continue;
            domains[level]++;
            int items = 0;
            for (int k = 0; k < n; k++)
                items += (int)sw_location_share(&where[k], &where[m]) <=
                             level &&
                         (level == 0 || leads(where, k, level - 1));
            int r = rounds(items, fanout);
            cut[level] = r > cut[level] ? r : cut[level];
        }
        bound += cut[level];
    }
    if (depth > bound)
        fail("depth %d above the bound %d (n %d, fanout %d)", depth, bound, n,
             fanout);

    /* Only its leader reaches out of a domain; the tree enters each domain
     * once; no member serves more than its share of a level. */
    int crossing[SW_SHARE_COUNT] = {0};
    int (*served)[SW_SHARE_COUNT] = grab((size_t)n * sizeof *served);
    memset(served, 0, (size_t)n * sizeof *served);
    for (int m = 1; m < n; m++) {
        int p = sw_tree_parent(tree, 0, m);
        int share = (int)sw_location_share(&where[m], &where[p]);
        if (p >= m)
            fail("parent %d of %d is not lower", p, m);
        for (int level = 0; level < share; level++) {
            crossing[level]++;
            if (!leads(where, m, level))
                fail("%d goes to %d though its domain has a leader", m, p);
        }
        if (++served[p][share] > (fanout - 1) * cut[share])
            fail("%d serves %d children of level %d", p, served[p][share],
                 share);
    }
    for (int level = 0; level < SW_SHARE_MACHINE; level++)
        if (crossing[level] != domains[level] - 1)
            fail("%d edges leave the %d domains of level %d", crossing[level],
                 domains[level], level);

    if (sw_tree_ordered(tree) != (range_end(tree, 0) == n))
        fail("ordered, or not? (n %d)", n);
    free(served);
    free(tree);
}

#endif
