/*
 * pieces.c - see pieces.h. Pieces that touch are one.
 */
#include "pieces.h"

typedef struct {
    const sw_layout_t *l;
    uint64_t left; /* bytes of data to come */
    sw_os_piece_t *piece;
    int n;
    sw_pieces_func_t *take;
    void *context;
    int result;
} walk_t;

static void flush(walk_t *w)
{
    if (w->n && w->result == 0)
        w->result = w->take(w->context, w->piece, w->n);
    w->n = 0;
}

static void run(walk_t *w, int64_t at, uint64_t bytes)
{
    sw_os_piece_t *last = w->n ? &w->piece[w->n - 1] : NULL;
    if (bytes > w->left)
        bytes = w->left;
    w->left -= bytes;
    if (!bytes)
        return;
    if (last && last->at + last->bytes == (uint64_t)at) {
        last->bytes += bytes;
        return;
    }
    if (w->n == SW_PIECES)
        flush(w);
    w->piece[w->n++] = (sw_os_piece_t){(uint64_t)at, bytes};
}

static void node(walk_t *w, const sw_layout_node_t *n, int64_t at)
{
    const int64_t *word = sw_layout_words(w->l) + n->child;
    if (n->kind == SW_NODE_RUN)
        run(w, at, n->unit);
    if (n->kind == SW_NODE_RUN || n->kind == SW_NODE_EMPTY)
        return;
    for (int64_t i = 0; i < n->count && w->left && !w->result; i++)
        if (n->kind == SW_NODE_BLOCKS)
            run(w, at + word[i], n->unit);
        else if (n->kind == SW_NODE_REPEAT)
            node(w, &w->l->node[n->child], at + i * n->stride);
        else
            node(w, &w->l->node[word[i * SW_ENTRY_WORDS + SW_ENTRY_NODE]],
                 at + word[i * SW_ENTRY_WORDS + SW_ENTRY_AT]);
}

int sw_layout_pieces(const sw_layout_t *l, uint64_t base, int64_t count,
                     uint64_t bytes, sw_pieces_func_t *take, void *context)
{
    sw_os_piece_t piece[SW_PIECES];
    walk_t w = {.l = l,
                .left = bytes,
                .piece = piece,
                .take = take,
                .context = context};
    for (int64_t i = 0; i < count && w.left && !w.result; i++)
        node(&w, &l->node[l->root], (int64_t)base + i * l->extent + l->at);
    flush(&w);
    return w.result;
}
