/*
 * tree.c - trees over synthetic machines: valid from every root, shallow, and
 * sparing of the slow links; ordered trees cover contiguous ranges.
 */
#include "check.h"

static uint64_t state = 88172645463325252u;

static int draw(int below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)below);
}

/* A machine: packages x NUMA nodes x L3s x cores. */
typedef struct {
    int packages, numas, l3s, cores;
} shape_t;

static int size(shape_t s)
{
    return s.packages * s.numas * s.l3s * s.cores;
}

/* The location of core c, in the machine's order. */
static sw_location_t core(shape_t s, int c)
{
    int l3 = c / s.cores, numa = l3 / s.l3s, package = numa / s.numas;
    return (sw_location_t){(int16_t)(package * s.numas * s.l3s * s.cores),
                           (int16_t)(numa * s.l3s * s.cores),
                           (int16_t)(l3 * s.cores), (int16_t)c};
}

enum { PACKED, SCATTERED, SHUFFLED, UNEVEN, HALF_BOUND, UNBOUND, PLACEMENTS };

/* n ranks on the machine. */
static sw_location_t *place(shape_t s, int n, int how)
{
    sw_location_t *where = grab((size_t)n * sizeof *where);
    int all = size(s), domains = s.packages * s.numas * s.l3s;
    for (int m = 0; m < n; m++) {
        int c = m % all;
        if (how == SCATTERED) /* round robin over the L3s */
            c = m % domains * s.cores + m / domains % s.cores;
        if (how == UNEVEN) /* crowded low, some domains empty */
            c = draw(1 + draw(1 + draw(all)));
        where[m] = core(s, c);
        if (how == UNBOUND)
            where[m] = (sw_location_t){-1, -1, -1, -1};
        if (how == HALF_BOUND && draw(2)) {
            where[m].core = where[m].l3 = -1;
            if (draw(2))
                where[m].numa = -1;
        }
    }
    for (int m = n - 1; how == SHUFFLED && m > 0; m--) {
        int k = draw(m + 1);
        sw_location_t swap = where[m];
        where[m] = where[k];
        where[k] = swap;
    }
    return where;
}

static void check_ordered(int n, int fanout)
{
    sw_tree_t *tree = make_tree(NULL, n, fanout);
    int step = n > 64 ? n / 7 : 1;
    for (int root = 0; root < n; root += step)
        check_root(tree, root);
    if (range_end(tree, 0) != n || !sw_tree_ordered(tree))
        fail("ordered tree of %d, fanout %d, has a gap", n, fanout);
    if (sw_tree_depth(tree, 0) > rounds(n, fanout))
        fail("ordered tree of %d, fanout %d, has depth %d", n, fanout,
             sw_tree_depth(tree, 0));
    free(tree);
}

/* The picture in tree.h. */
static void check_example(void)
{
    sw_location_t where[12];
    for (int m = 0; m < 12; m++)
        where[m] = core((shape_t){2, 1, 1, 8}, m);
    sw_tree_t *tree = make_tree(where, 12, 4);
    static const int want[12] = {-1, 0, 0, 0, 0, 4, 4, 4, 0, 8, 8, 8};
    for (int m = 0; m < 12; m++)
        if (sw_tree_parent(tree, 0, m) != want[m])
            fail("the example: parent of %d is %d", m,
                 sw_tree_parent(tree, 0, m));
    /* Seen from 6 the path 6 - 4 - 0 is turned round. */
    int16_t list[12];
    if (sw_tree_parent(tree, 6, 0) != 4 || sw_tree_parent(tree, 6, 4) != 6 ||
        sw_tree_parent(tree, 6, 9) != 8 || sw_tree_depth(tree, 6) != 4 ||
        sw_tree_children(tree, 6, 6, list) != 1 || list[0] != 4 ||
        sw_tree_children(tree, 6, 0, list) != 4)
        fail("the example, seen from 6");
    free(tree);
}

int main(void)
{
    static const shape_t shapes[] = {
        {8, 1, 1, 6}, {2, 1, 1, 64}, {4, 2, 6, 4}, {2, 4, 2, 12},
        {1, 1, 1, 2}, {1, 1, 32, 8}, {2, 1, 8, 1}, {1, 1, 1, 1},
    };
    static const int fanouts[] = {2, 3, 4, 8, 16, 256};
    int trees = 0;
    check_example();
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int how = 0; how < PLACEMENTS; how++)
            for (int f = 0; f < 6; f++) {
                int all = size(shapes[s]);
                int counts[] = {all, 1 + draw(all), 2,
                                how == UNBOUND ? 256 : all + draw(9)};
                for (int k = 0; k < 4; k++, trees++) {
                    sw_location_t *where = place(shapes[s], counts[k], how);
                    check_tree(where, counts[k], fanouts[f]);
                    free(where);
                }
            }
    /* Packed ranks make the machine's tree an ordered one too. */
    sw_location_t *where = place(shapes[2], 192, PACKED);
    sw_tree_t *tree = make_tree(where, 192, 4);
    if (!sw_tree_ordered(tree))
        fail("packed ranks, but the tree is not ordered");
    free(tree);
    free(where);

    for (int fanout = 2; fanout < 10; fanout++)
        for (int n = 1; n <= 100; n++, trees++)
            check_ordered(n, fanout);
    check_ordered(256, 8);
    check_ordered(4000, 3);
    tree = make_tree(NULL, SW_TREE_MOST, 2);
    int16_t *list = grab(SW_TREE_MOST * sizeof *list);
    int edges = 0;
    for (int m = 0; m < SW_TREE_MOST; m++)
        edges += sw_tree_children(tree, 0, m, list);
    if (edges != SW_TREE_MOST - 1 || sw_tree_depth(tree, 0) != 15)
        fail("the largest tree: %d edges, depth %d", edges,
             sw_tree_depth(tree, 0));
    free(list);
    free(tree);
    /* A fanout of nonsense still gives a tree. */
    tree = make_tree(NULL, 9, 0);
    check_root(tree, 5);
    free(tree);
    printf("%d trees\n", trees);
    return 0;
}
