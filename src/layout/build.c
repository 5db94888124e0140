/*
 * build.c - see build.h.
 *
 * The canonical form:
 *   - no REPEAT of one, of nothing, of runs that touch, or of a REPEAT that
 *     goes on with the same stride;
 *   - a LIST holds at least two entries, none of them empty, no two runs that
 *     touch; if all its children are one node and equally spaced, it is a
 *     REPEAT; stretches of at least STRETCH children that are so are a REPEAT
 *     within it; if that would leave more than one in FEWER, and they are runs
 *     of one length, or of few multiples of it, it is BLOCKS of that length,
 *     which is quicker to walk;
 *   - no two nodes are equal.
 */
#include "build.h"

#include <stdlib.h>
#include <string.h>

#define BEYOND ((int64_t)1 << 62)
#define STRETCH 8
#define FEWER 4
#define SAMPLE 16 /* of a node's words, those that are hashed */
#define FIRST 64  /* buckets at first */

struct sw_build {
    sw_layout_node_t *node;
    uint32_t nodes, nodes_room;
    int64_t *word;
    size_t words, words_room;
    uint32_t *bucket;      /* of the nodes' hashes; 0: free */
    uint32_t buckets;      /* a power of two */
    uint32_t first[FIRST]; /* the buckets, until there are more */
    bool failed;
};

static const sw_layout_place_t nothing = {0, 0};

static sw_layout_place_t fail(sw_build_t *b)
{
    b->failed = true;
    return nothing;
}

static bool room_for(void **array, size_t each, size_t used, size_t more,
                     size_t *room)
{
    if (used + more <= *room)
        return true;
    size_t n = sw_max(2 * used, used + more);
    void *grown = realloc(*array, n * each);
    if (!grown)
        return false;
    *array = grown;
    *room = n;
    return true;
}

sw_build_t *sw_build_new(void)
{
    sw_build_t *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->nodes_room = 16;
    b->buckets = FIRST;
    b->node = calloc(b->nodes_room, sizeof *b->node);
    b->bucket = b->first;
    b->nodes = 1; /* SW_NODE_EMPTY */
    b->failed = !b->node;
    return b;
}

/* Nodes, each once -------------------------------------------------------- */

static size_t words_of(const sw_layout_node_t *n)
{
    return n->kind == SW_NODE_BLOCKS ? (size_t)n->count
           : n->kind == SW_NODE_LIST ? (size_t)n->count * SW_ENTRY_WORDS
                                     : 0;
}

static const int64_t *words_at(const sw_build_t *b, const sw_layout_node_t *n)
{
    return words_of(n) ? b->word + n->child : NULL;
}

/* Room for a node's words, behind those of the others: there intern finds
 * them. NULL: it has failed. */
static int64_t *next_words(sw_build_t *b, size_t words)
{
    if (words > SW_LAYOUT_WORDS - b->words ||
        !room_for((void **)&b->word, sizeof *b->word, b->words, words,
                  &b->words_room)) {
        fail(b);
        return NULL;
    }
    return b->word + b->words;
}

static uint64_t mixed(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t hash(const sw_layout_node_t *n, const int64_t *word)
{
    size_t words = words_of(n), step = words / SAMPLE + 1;
    uint64_t h = mixed(n->kind, (uint64_t)n->count);
    h = mixed(mixed(h, n->unit), (uint64_t)n->stride);
    if (n->kind == SW_NODE_REPEAT)
        h = mixed(h, n->child);
    for (size_t i = 0; i < words; i += step)
        h = mixed(h, (uint64_t)word[i]);
    return h;
}

static bool equal(const sw_build_t *b, const sw_layout_node_t *one,
                  const sw_layout_node_t *n, const int64_t *word)
{
    size_t words = words_of(n);
    return one->kind == n->kind && one->count == n->count &&
           one->unit == n->unit && one->stride == n->stride &&
           (n->kind != SW_NODE_REPEAT || one->child == n->child) &&
           (!words || !memcmp(words_at(b, one), word, words * sizeof *word));
}

static void rehash(sw_build_t *b)
{
    uint32_t n = 4 * b->buckets, *bucket = calloc(n, sizeof *bucket);
    if (!bucket)
        return; /* slower, until it is full */
    for (uint32_t i = 1; i < b->nodes; i++) {
        uint64_t h = hash(&b->node[i], words_at(b, &b->node[i]));
        while (bucket[h & (n - 1)])
            h++;
        bucket[h & (n - 1)] = i;
    }
    if (b->bucket != b->first)
        free(b->bucket);
    b->bucket = bucket;
    b->buckets = n;
}

static bool touch(const sw_layout_node_t *run, int64_t at,
                  const sw_layout_node_t *next, int64_t next_at)
{
    return run->kind == SW_NODE_RUN && next->kind == SW_NODE_RUN &&
           next_at == at + (int64_t)run->unit;
}

/* The canonical form, of one node with its words. For sw_assert. */
static bool is_canonical(const sw_build_t *b, const sw_layout_node_t *n,
                         const int64_t *word)
{
    const sw_layout_node_t *c = b->node +
                                (n->kind == SW_NODE_REPEAT ? n->child : 0);
    if (n->kind == SW_NODE_RUN)
        return n->unit && n->size == n->unit;
    if (n->kind == SW_NODE_REPEAT)
        return n->count > 1 && c->kind != SW_NODE_EMPTY && n->unit == c->size &&
               n->size == n->unit * (uint64_t)n->count &&
               !touch(c, 0, c, n->stride) &&
               !(c->kind == SW_NODE_REPEAT &&
                 n->stride == c->count * c->stride);
    if (n->kind == SW_NODE_BLOCKS)
        return n->count > 1 && n->unit &&
               n->size == n->unit * (uint64_t)n->count;
    bool same = n->count > 1;
    for (int64_t i = 1; i < n->count; i++) {
        const int64_t *one = word + (i - 1) * SW_ENTRY_WORDS;
        const int64_t *next = one + SW_ENTRY_WORDS;
        same = same && next[SW_ENTRY_NODE] == one[SW_ENTRY_NODE] &&
               next[SW_ENTRY_AT] - one[SW_ENTRY_AT] ==
                   word[SW_ENTRY_WORDS + SW_ENTRY_AT] - word[SW_ENTRY_AT];
        if (!one[SW_ENTRY_NODE] || !next[SW_ENTRY_NODE] ||
            touch(&b->node[one[SW_ENTRY_NODE]], one[SW_ENTRY_AT],
                  &b->node[next[SW_ENTRY_NODE]], next[SW_ENTRY_AT]))
            return false;
    }
    return n->kind == SW_NODE_LIST && n->count > 1 && !same;
}

/* The node that is as `n`, whose words are the next. */
static sw_layout_place_t intern(sw_build_t *b, int64_t at, sw_layout_node_t n)
{
    size_t room = b->nodes_room;
    const int64_t *word = b->word ? b->word + b->words : NULL;
    sw_assert(is_canonical(b, &n, word));
    if (2 * b->nodes >= b->buckets)
        rehash(b);
    if (b->nodes + 1 >= b->buckets || n.size >= (uint64_t)BEYOND)
        return fail(b);
    uint64_t h = hash(&n, word);
    uint32_t mask = b->buckets - 1;
    for (; b->bucket[h & mask]; h++)
        if (equal(b, &b->node[b->bucket[h & mask]], &n, word))
            return (sw_layout_place_t){at, b->bucket[h & mask]};
    if (!room_for((void **)&b->node, sizeof *b->node, b->nodes, 1, &room))
        return fail(b);
    b->nodes_room = (uint32_t)room;
    if (words_of(&n))
        n.child = (uint32_t)b->words;
    b->words += words_of(&n);
    b->bucket[h & mask] = b->nodes;
    b->node[b->nodes] = n;
    return (sw_layout_place_t){at, b->nodes++};
}

/* The steps --------------------------------------------------------------- */

sw_layout_place_t sw_build_run(sw_build_t *b, uint64_t bytes)
{
    if (b->failed || !bytes)
        return nothing;
    return intern(
        b, 0,
        (sw_layout_node_t){.kind = SW_NODE_RUN, .unit = bytes, .size = bytes});
}

bool sw_build_is_run(const sw_build_t *b, sw_layout_place_t place)
{
    return !b->failed && b->node[place.node].kind == SW_NODE_RUN;
}

sw_layout_place_t sw_build_repeat(sw_build_t *b, int64_t count, int64_t stride,
                                  sw_layout_place_t child)
{
    if (b->failed || count <= 0 || !child.node)
        return nothing;
    if (count == 1)
        return child;
    const sw_layout_node_t *c = &b->node[child.node];
    int64_t size, span;
    if (__builtin_mul_overflow(count, (int64_t)c->size, &size) ||
        __builtin_mul_overflow(count, stride, &span) || size >= BEYOND ||
        span >= BEYOND || span <= -BEYOND)
        return fail(b);
    if (c->kind == SW_NODE_RUN && stride == (int64_t)c->unit)
        return sw_place_moved(sw_build_run(b, (uint64_t)size), child.at);
    if (c->kind == SW_NODE_REPEAT && stride == c->count * c->stride) {
        count *= c->count;
        stride = c->stride;
        child.node = c->child;
        c = &b->node[c->child];
    }
    return intern(b, child.at,
                  (sw_layout_node_t){.kind = SW_NODE_REPEAT,
                                     .child = child.node,
                                     .count = count,
                                     .stride = stride,
                                     .unit = c->size,
                                     .size = (uint64_t)size});
}

/* Leave out what is empty, join runs that touch; how many remain. Only the
 * joined run becomes a node. */
static int64_t join(sw_build_t *b, int64_t n, sw_layout_place_t *place)
{
    const sw_layout_node_t *c = b->node; /* of number `node` */
    uint32_t node = 0;
    int64_t kept = 0;
    for (int64_t i = 0; i < n;) {
        sw_layout_place_t first = place[i++];
        if (first.node != node)
            c = &b->node[node = first.node];
        if (c->kind == SW_NODE_EMPTY)
            continue;
        uint64_t bytes = c->unit;
        for (; c->kind == SW_NODE_RUN && i < n; i++) {
            const sw_layout_node_t *next = &b->node[place[i].node];
            if (next->kind == SW_NODE_EMPTY)
                continue; /* what it parts may touch */
            if (next->kind != SW_NODE_RUN ||
                place[i].at != first.at + (int64_t)bytes)
                break;
            bytes += next->unit;
        }
        if (c->kind == SW_NODE_RUN && bytes != c->unit) {
            first.node = sw_build_run(b, bytes).node;
            c = &b->node[node = first.node];
        }
        place[kept++] = first;
    }
    return kept;
}

/* How many from `i` on are one node, equally spaced. */
static int64_t stretch(int64_t n, const sw_layout_place_t *place, int64_t i)
{
    int64_t end = i + 1;
    while (end < n && place[end].node == place[i].node &&
           (end == i + 1 ||
            place[end].at - place[end - 1].at == place[i + 1].at - place[i].at))
        end++;
    return end - i;
}

/* Runs all of whose lengths are multiples of a unit, and most of them one:
 * such as the points of a mesh, some of which are neighbours. How many units
 * they are, 0 if they are no such runs. */
static int64_t units(const sw_build_t *b, int64_t n,
                     const sw_layout_place_t *place, uint64_t *unit)
{
    uint64_t bytes = 0, length = 0, most = (uint64_t)(n + n / 2);
    uint32_t node = 0;
    *unit = 0;
    for (int64_t i = 0; i < n; i++) {
        if (place[i].node != node) {
            node = place[i].node;
            length = b->node[node].unit;
            if (b->node[node].kind != SW_NODE_RUN)
                return 0;
            for (uint64_t rest = length; rest;) { /* Euclid */
                uint64_t divisor = rest;
                rest = *unit % divisor;
                *unit = divisor;
            }
            if (bytes / *unit + (uint64_t)(n - i) > most)
                return 0; /* were each that comes a unit only */
        }
        if (__builtin_add_overflow(bytes, length, &bytes))
            return 0;
    }
    uint64_t many = bytes / *unit;
    return many <= most ? (int64_t)many : 0;
}

/* Are they too irregular for anything else? */
static bool ragged(int64_t n, const sw_layout_place_t *place)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n && (kept <= 1 || kept <= n / FEWER); kept++) {
        int64_t many = stretch(n, place, i);
        i += many < STRETCH && many < n ? 1 : many;
    }
    return kept > 1 && kept > n / FEWER;
}

/* Make REPEATs of the stretches; how many places remain. */
static int64_t gather(sw_build_t *b, int64_t n, sw_layout_place_t *place)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n;) {
        int64_t many = stretch(n, place, i);
        if (many < STRETCH && many < n) {
            place[kept++] = place[i++];
            continue;
        }
        place[kept++] = sw_build_repeat(
            b, many, many > 1 ? place[i + 1].at - place[i].at : 0, place[i]);
        i += many;
    }
    return kept;
}

static sw_layout_place_t blocks(sw_build_t *b, int64_t n,
                                const sw_layout_place_t *place, uint64_t unit,
                                int64_t *word)
{
    int64_t at = place[0].at, many = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t length = b->node[place[i].node].unit;
        for (uint64_t k = 0; k < length; k += unit)
            word[many++] = place[i].at - at + (int64_t)k;
    }
    return intern(b, at,
                  (sw_layout_node_t){.kind = SW_NODE_BLOCKS,
                                     .count = many,
                                     .unit = unit,
                                     .size = (uint64_t)many * unit});
}

static sw_layout_place_t list(sw_build_t *b, int64_t n,
                              const sw_layout_place_t *place, int64_t *word)
{
    int64_t at = place[0].at, before = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t *entry = word + i * SW_ENTRY_WORDS;
        entry[SW_ENTRY_AT] = place[i].at - at;
        entry[SW_ENTRY_BEFORE] = before;
        entry[SW_ENTRY_NODE] = place[i].node;
        if (__builtin_add_overflow(before, (int64_t)b->node[place[i].node].size,
                                   &before) ||
            before >= BEYOND)
            return fail(b);
    }
    return intern(b, at,
                  (sw_layout_node_t){.kind = SW_NODE_LIST,
                                     .count = n,
                                     .size = (uint64_t)before});
}

sw_layout_place_t sw_build_list(sw_build_t *b, int64_t n,
                                sw_layout_place_t *place)
{
    if (b->failed)
        return nothing;
    n = join(b, n, place);
    if (b->failed || n <= 1)
        return n && !b->failed ? place[0] : nothing;
    uint64_t unit = 0;
    int64_t many = ragged(n, place) ? units(b, n, place, &unit) : 0;
    for (int64_t before = 0; !many && n > 1 && n != before && !b->failed;) {
        before = n;
        n = gather(b, n, place);
    }
    if (b->failed || n == 1)
        return n && !b->failed ? place[0] : nothing;
    size_t words = many ? (size_t)many : (size_t)n * SW_ENTRY_WORDS;
    int64_t *word = next_words(b, words);
    if (!word)
        return nothing;
    return many ? blocks(b, n, place, unit, word) : list(b, n, place, word);
}

/* The end ----------------------------------------------------------------- */

typedef struct {
    int64_t low, high;
    uint64_t runs;
    uint32_t as; /* its number in the layout; 0: not there */
} kept_t;

static void widen(kept_t *r, int64_t low, int64_t high)
{
    r->low = low < r->low ? low : r->low;
    r->high = high > r->high ? high : r->high;
}

/* The bytes from its beginning that a node covers, and its runs. */
static void cover(const sw_build_t *b, const sw_layout_node_t *n, kept_t *kept,
                  kept_t *r)
{
    const int64_t *word = words_at(b, n);
    r->low = r->high = 0;
    r->runs = n->kind == SW_NODE_BLOCKS ? (uint64_t)n->count
                                        : n->kind == SW_NODE_RUN;
    if (n->kind == SW_NODE_RUN)
        r->high = (int64_t)n->unit;
    if (n->kind == SW_NODE_REPEAT) {
        const kept_t *child = &kept[n->child];
        int64_t last = (n->count - 1) * n->stride;
        widen(r, child->low, child->high);
        widen(r, child->low + last, child->high + last);
        r->runs = child->runs * (uint64_t)n->count;
    }
    if (n->kind == SW_NODE_BLOCKS) {
        int64_t low, high;
        sw_layout_offsets_span(word, n->count, &low, &high);
        widen(r, low, high + (int64_t)n->unit);
    }
    for (int64_t k = 0; n->kind == SW_NODE_LIST && k < n->count; k++) {
        const int64_t *entry = word + k * SW_ENTRY_WORDS;
        const kept_t *child = &kept[entry[SW_ENTRY_NODE]];
        widen(r, entry[SW_ENTRY_AT] + child->low,
              entry[SW_ENTRY_AT] + child->high);
        r->runs += child->runs;
    }
}

/* Which nodes the root needs (children have smaller numbers than parents),
 * under which numbers. Adds up nodes and words. */
static void choose(const sw_build_t *b, uint32_t root, kept_t *kept,
                   uint32_t *nodes, size_t *words)
{
    kept[0].as = kept[root].as = 1;
    for (uint32_t i = root; i > 0; i--) {
        const sw_layout_node_t *n = &b->node[i];
        const int64_t *word = words_at(b, n);
        if (!kept[i].as)
            continue;
        *words += words_of(n);
        if (n->kind == SW_NODE_REPEAT)
            kept[n->child].as = 1;
        for (int64_t k = 0; n->kind == SW_NODE_LIST && k < n->count; k++)
            kept[word[k * SW_ENTRY_WORDS + SW_ENTRY_NODE]].as = 1;
    }
    *nodes = 0;
    for (uint32_t i = 0; i <= root; i++)
        if (kept[i].as)
            kept[i].as = (*nodes)++;
}

static void copy_node(const sw_build_t *b, const sw_layout_node_t *n,
                      const kept_t *kept, sw_layout_node_t *to, int64_t *words,
                      size_t *used)
{
    size_t count = words_of(n);
    *to = *n;
    if (n->kind == SW_NODE_REPEAT)
        to->child = kept[n->child].as;
    if (!count)
        return;
    to->child = (uint32_t)*used;
    memcpy(words + *used, words_at(b, n), count * sizeof *words);
    for (int64_t k = 0; n->kind == SW_NODE_LIST && k < n->count; k++) {
        int64_t *node = words + *used + k * SW_ENTRY_WORDS + SW_ENTRY_NODE;
        *node = kept[*node].as;
    }
    *used += count;
}

static sw_layout_t *layout_of(const sw_build_t *b, sw_layout_place_t root,
                              int64_t extent, kept_t *kept)
{
    uint32_t nodes;
    size_t words = 0, used = 0;
    choose(b, root.node, kept, &nodes, &words);
    size_t bytes = sizeof(sw_layout_t) + nodes * sizeof(sw_layout_node_t) +
                   words * sizeof(int64_t);
    sw_layout_t *l = malloc(bytes);
    if (!l)
        return NULL;
    *l = (sw_layout_t){.bytes = bytes,
                       .size = b->node[root.node].size,
                       .extent = extent,
                       .at = root.at,
                       .nodes = nodes,
                       .root = kept[root.node].as,
                       .words = words};
    for (uint32_t i = 0; i <= root.node; i++) {
        const sw_layout_node_t *n = &b->node[i];
        if (i && !kept[i].as)
            continue;
        cover(b, n, kept, &kept[i]);
        copy_node(b, n, kept, &l->node[kept[i].as],
                  (int64_t *)(void *)(l->node + nodes), &used);
    }
    l->runs = kept[root.node].runs;
    l->low = root.at + kept[root.node].low;
    l->high = root.at + kept[root.node].high;
    return l;
}

sw_layout_t *sw_build_end(sw_build_t *b, sw_layout_place_t root, int64_t extent)
{
    kept_t *kept = b->failed ? NULL : calloc(b->nodes, sizeof *kept);
    sw_layout_t *l = kept ? layout_of(b, root, extent, kept) : NULL;
    free(kept);
    free(b->node);
    free(b->word);
    if (b->bucket != b->first)
        free(b->bucket);
    free(b);
    sw_assert(!l || sw_layout_valid(l, l->bytes));
    return l;
}
