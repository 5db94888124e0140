/*
 * tree.c - trees that follow the machine; see tree.h for the idea.
 *
 * The builder keeps the members that have no parent yet, at first all. For each
 * level, from L3 to the machine, it sorts them by domain and rank. Every domain
 * is then one run of the list, and begins with its lowest rank. The builder
 * replaces each run by its leader. A member leaves the list when it gets its
 * parent: the order of leaving puts children before their parents and near
 * children before far ones, which is what the rest is made from.
 */
#include "tree.h"

static const int16_t *parents(const sw_tree_t *t)
{
    return t->cell;
}
static const int16_t *levels(const sw_tree_t *t)
{
    return t->cell + t->n;
}
static const int16_t *firsts(const sw_tree_t *t)
{
    return t->cell + 2 * t->n;
}
static const int16_t *childs(const sw_tree_t *t)
{
    return t->cell + 3 * t->n + 1;
}

/* Four tables, one entry more for first[], and two lists of scratch. */
size_t sw_tree_bytes(int n)
{
    return sw_round_up(sizeof(sw_tree_t) + (6 * (size_t)n + 1) * 2, 4);
}

/* Building ------------------------------------------------------------ */

typedef struct {
    const sw_location_t *where; /* NULL: all in one place */
    int fanout;
    int16_t *parent;
    int16_t *free; /* members without a parent yet */
    int16_t *left; /* members in the order of leaving */
    int gone;
} builder_t;

/* By domain at this level, then rank: a total order. */
static bool before(const sw_location_t *where, sw_share_t level, int a, int b)
{
    const sw_location_t *x = &where[a], *y = &where[b];
    if (level <= SW_SHARE_PACKAGE && x->package != y->package)
        return x->package < y->package;
    if (level <= SW_SHARE_NUMA && x->numa != y->numa)
        return x->numa < y->numa;
    if (level <= SW_SHARE_L3 && x->l3 != y->l3)
        return x->l3 < y->l3;
    return a < b;
}

/* Shell's sort: in place, and quick on lists that are nearly in order, as
 * placements mostly are. */
static void sort(const builder_t *b, sw_share_t level, int count)
{
    int gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int i = gap; i < count; i++) {
            int16_t m = b->free[i];
            int k = i;
            for (; k >= gap && before(b->where, level, m, b->free[k - gap]);
                 k -= gap)
                b->free[k] = b->free[k - gap];
            b->free[k] = m;
        }
}

/* Cut a run into even chunks of at most fanout members, keep their leaders,
 * and so on: returns when the run's first member alone is left. */
static void gather(builder_t *b, int16_t *run, int count)
{
    while (count > 1) {
        int chunks = (count + b->fanout - 1) / b->fanout;
        for (int c = 0; c < chunks; c++) {
            int from = (int)((int64_t)c * count / chunks);
            int end = (int)((int64_t)(c + 1) * count / chunks);
            int16_t leader = run[from];
            for (int i = from + 1; i < end; i++) {
                b->parent[run[i]] = leader;
                b->left[b->gone++] = run[i];
            }
            run[c] = leader; /* c <= from: never ahead of reading */
        }
        count = chunks;
    }
}

static void gather_level(builder_t *b, sw_share_t level, int *count)
{
    int kept = 0;
    if (b->where)
        sort(b, level, *count);
    for (int from = 0, end; from < *count; from = end) {
        for (end = from + 1; end < *count; end++)
            if (b->where && sw_location_share(&b->where[b->free[from]],
                                              &b->where[b->free[end]]) > level)
                break;
        gather(b, b->free + from, end - from);
        b->free[kept++] = b->free[from];
    }
    *count = kept;
}

/* Is every subtree a contiguous range, its children in order? `end` is where
 * each subtree's range ends, filled from the leaves up. */
static bool is_ordered(const sw_tree_t *t, const int16_t *left, int16_t *end)
{
    for (int k = 0; k < t->n; k++) {
        int m = k < t->n - 1 ? left[k] : 0, next = m + 1;
        for (int i = firsts(t)[m]; i < firsts(t)[m + 1]; i++) {
            if (childs(t)[i] != next)
                return false;
            next = end[next];
        }
        end[m] = (int16_t)next;
    }
    return true;
}

static void build(const sw_location_t *where, int n, int fanout, sw_tree_t *to)
{
    int16_t *level = to->cell + n, *first = level + n, *child = first + n + 1;
    builder_t b = {
        .where = where,
        .fanout = fanout < 2 ? 2 : fanout,
        .parent = to->cell,
        .free = child + n,
        .left = child + 2 * n,
    };
    to->n = n;
    for (int m = 0; m < n; m++)
        b.free[m] = (int16_t)m;
    int count = n;
    for (int share = SW_SHARE_L3; share < SW_SHARE_COUNT; share++)
        gather_level(&b, (sw_share_t)share, &count);
    b.parent[0] = -1;

    /* Levels from the root down; children counted on the way. */
    level[0] = 0;
    to->deepest = 0;
    for (int m = 0; m <= n; m++)
        first[m] = 0;
    for (int k = n - 2; k >= 0; k--) {
        int m = b.left[k], p = b.parent[m];
        level[m] = (int16_t)(level[p] + 1);
        to->deepest = level[m] > to->deepest ? level[m] : to->deepest;
        first[p + 1]++;
    }
    /* A stable counting sort of the leavers by parent. */
    for (int m = 0; m < n; m++)
        first[m + 1] = (int16_t)(first[m + 1] + first[m]);
    int16_t *at = b.free;
    for (int m = 0; m < n; m++)
        at[m] = first[m];
    for (int k = 0; k < n - 1; k++)
        child[at[b.parent[b.left[k]]]++] = b.left[k];
    to->ordered = is_ordered(to, b.left, b.free);
}

void sw_tree_build(const sw_location_t *where, int n, int fanout, sw_tree_t *to)
{
    build(where, n, fanout, to);
}

void sw_tree_build_ordered(int n, int fanout, sw_tree_t *to)
{
    /* In one place, chunks are ranges and leaders come in rank order. */
    build(NULL, n, fanout, to);
}

/* Seen from another root ----------------------------------------------- */

/* The member one step below `me` on the way down to `root`; -1 where root is
 * `me` itself or not below it. */
static int towards(const sw_tree_t *t, int root, int me)
{
    int level = levels(t)[me];
    if (levels(t)[root] <= level)
        return -1;
    while (levels(t)[root] > level + 1)
        root = parents(t)[root];
    return parents(t)[root] == me ? root : -1;
}

int sw_tree_parent(const sw_tree_t *t, int root, int me)
{
    if (me == root)
        return -1;
    int down = towards(t, root, me);
    return down >= 0 ? down : parents(t)[me];
}

int sw_tree_children(const sw_tree_t *t, int root, int me, int16_t *list)
{
    int down = towards(t, root, me), count = 0;
    for (int i = firsts(t)[me]; i < firsts(t)[me + 1]; i++)
        if (childs(t)[i] != down)
            list[count++] = childs(t)[i];
    /* On the path to the old root, the old parent is a child now. */
    if ((me == root || down >= 0) && me != 0)
        list[count++] = parents(t)[me];
    return count;
}

int sw_tree_depth(const sw_tree_t *t, int root)
{
    if (root == 0)
        return t->deepest;
    int depth = 0;
    for (int m = 0; m < t->n; m++) {
        int a = root, b = m, steps = 0;
        while (a != b) {
            if (levels(t)[a] >= levels(t)[b])
                a = parents(t)[a];
            else
                b = parents(t)[b];
            steps++;
        }
        depth = steps > depth ? steps : depth;
    }
    return depth;
}
