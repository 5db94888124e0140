/*
 * gather.c - Gather and Gatherv.
 *
 * Small blocks are staged, and the senders leave at once. For large ones the
 * root exposes its receive buffer, and the members write into it, all at once.
 * In Gatherv some may be large and others small: a member knows its own size,
 * and the root, who knows all, exposes its buffer if anybody's is large, with
 * a table of the places.
 *
 * Every member posts an entry, a large sender one without payload: so a root
 * that expects another size than a member has sees it, and neither waits for
 * what will not come.
 */
#include "coll.h"

#include "../node/arena.h"

/* A block that its sender has staged. */
static int take(sw_group_t *g, int from, uint64_t step, uint32_t what,
                char *recv, sw_extent_t block)
{
    sw_source_t source;
    int rc = sw_source(g, from, step, what, &source);
    if (rc)
        return rc;
    sw_read_ahead(g, from, step, source.bytes);
    if (source.bytes > block.bytes)
        return SW_TRUNCATED;
    return sw_source_copy(&source, 0, recv + block.offset, source.bytes);
}

/* The root's own block, and those it expects to be staged. */
static int fill_in(sw_group_t *g, uint64_t step, uint32_t what,
                   const void *send, size_t bytes, char *recv,
                   const sw_blocks_t *blocks)
{
    sw_extent_t own = sw_block(blocks, g->me);
    int rc = bytes > own.bytes ? SW_TRUNCATED : SW_OK;
    if (own.bytes && recv + own.offset != (const char *)send)
        memmove(recv + own.offset, send, sw_min(bytes, own.bytes));
    for (int k = 1; k < g->n; k++) {
        int from = sw_neighbour(g, k);
        sw_extent_t block = sw_block(blocks, from);
        if (block.bytes == 0 || block.bytes > g->eager)
            continue;
        int bad = take(g, from, step, what, recv, block);
        rc = rc ? rc : bad;
    }
    return rc;
}

/* Where the large blocks lie in the root's buffer. */
typedef struct {
    int64_t low, high;      /* the stretch that holds them          */
    size_t total;           /* their bytes; 0: there are none       */
} large_t;

static large_t large_blocks(const sw_group_t *g, const sw_blocks_t *blocks)
{
    large_t l = {INT64_MAX, INT64_MIN, 0};
    for (int i = 0; i < g->n; i++) {
        sw_extent_t b = sw_block(blocks, i);
        if (i == g->me || b.bytes <= g->eager)
            continue;
        l.low = b.offset < l.low ? b.offset : l.low;
        int64_t end = b.offset + (int64_t)b.bytes;
        l.high = end > l.high ? end : l.high;
        l.total += b.bytes;
    }
    return l;
}

/* Expose the places of the large blocks, or memory that stands in for them
 * (what lies between the blocks is not ours to touch), and post where each
 * block goes. Returns the stand-in, or NULL. */
static char *invite(sw_group_t *g, uint64_t step, uint32_t what, char *recv,
                    const sw_blocks_t *blocks, large_t l)
{
    size_t wide = (size_t)(l.high - l.low);
    uint64_t offset = g->arena ? sw_arena_offset(recv + l.low, wide)
                               : UINT64_MAX;
    char *copy = NULL;
    if (offset == UINT64_MAX && g->arena &&
        (l.total <= SW_COPY_MAX || !g->cma))
        copy = sw_shared_copy(g, l.total);
    sw_entry_t *e = sw_claim(g, step, SW_READ_ALL);
    e->what = what;
    e->form = SW_FORM_NONE;
    e->bytes = 0;
    if (copy)
        e->recv = (sw_part_t){.form = SW_FORM_ARENA,
                              .address = sw_arena_offset(copy, 1)};
    else if (offset != UINT64_MAX)
        e->recv = (sw_part_t){.form = SW_FORM_ARENA, .address = offset};
    else
        e->recv = (sw_part_t){.form = SW_FORM_CMA,
                              .address = (uintptr_t)(recv + l.low)};
    sw_extent_t *table = (sw_extent_t *)sw_claim_stage(
        g, step, SW_READ_ALL, (size_t)g->n * sizeof *table, e);
    int64_t at = 0;
    for (int i = 0; i < g->n; i++) {
        sw_extent_t b = sw_block(blocks, i);
        if (i == g->me || b.bytes <= g->eager)
            b.bytes = 0;
        table[i] = (sw_extent_t){copy ? at : b.offset - l.low, b.bytes};
        at += (int64_t)b.bytes;
    }
    sw_post(g, e, step);
    return copy;
}

/* All large blocks have come: out of the stand-in, and from members that sent
 * less than was expected and staged it. */
static int settle(sw_group_t *g, uint64_t step, uint32_t what, char *recv,
                  const sw_blocks_t *blocks, char *copy)
{
    size_t at = 0;
    int rc = SW_OK;
    for (int i = 0; i < g->n; i++) {
        sw_extent_t b = sw_block(blocks, i);
        if (i == g->me || b.bytes <= g->eager)
            continue;
        unsigned form = sw_entry(g, i, step)->form;
        int bad = SW_OK;
        if (form == SW_FORM_INLINE || form == SW_FORM_STAGED)
            bad = take(g, i, step, what, recv, b);
        else if (copy)
            sw_copy(recv + b.offset, copy + at, b.bytes);
        rc = rc ? rc : bad;
        at += b.bytes;
    }
    if (copy)
        sw_arena_free(copy);
    return rc;
}

static int receive(sw_group_t *g, uint64_t step, uint32_t what,
                   const void *send, size_t bytes, char *recv,
                   const sw_blocks_t *blocks)
{
    large_t l = large_blocks(g, blocks);
    char *copy = NULL;
    if (l.total)
        copy = invite(g, step, what, recv, blocks, l);
    int rc = fill_in(g, step, what, send, bytes, recv, blocks);
    if (l.total) {
        sw_await_done_all(g, step);
        int bad = settle(g, step, what, recv, blocks, copy);
        rc = rc ? rc : bad;
    }
    return rc;
}

/* A large block: say so, and write it where the root wants it. */
static int send_large(sw_group_t *g, int root, uint64_t step, uint32_t what,
                      const void *send, size_t bytes)
{
    sw_entry_t *mine = sw_claim(g, step, root);
    mine->what = what;
    mine->form = SW_FORM_NONE;
    mine->bytes = bytes;
    sw_post(g, mine, step);
    int rc = SW_OK;
    const sw_entry_t *e = sw_await(g, root, step, &rc);
    if (!e)
        return rc;
    if (e->what != what)
        return SW_MISMATCH;
    sw_extent_t block =
        ((const sw_extent_t *)sw_staged(g, root, e->place))[g->me];
    if (block.bytes < bytes)
        return SW_TRUNCATED;
    return sw_peer_write(g->peer[root], &e->recv, (uint64_t)block.offset,
                         send, bytes) ? SW_UNREACHABLE : SW_OK;
}

static int gather(sw_group_t *g, int root, uint32_t what, const void *send,
                  size_t bytes, void *recv, const sw_blocks_t *blocks)
{
    uint64_t step = ++g->step;
    int rc = SW_OK;
    if (g->me == root)
        rc = receive(g, step, what, send, bytes, recv, blocks);
    else if (bytes > g->eager)
        rc = send_large(g, root, step, what, send, bytes);
    else
        sw_stage(g, step, what, root, send, bytes);
    sw_done(g, step);
    return rc;
}

int sw_coll_gather(sw_group_t *g, int root, const void *send, size_t bytes,
                   void *recv)
{
    sw_blocks_t blocks = {bytes, NULL};
    return gather(g, root, sw_what(SW_COLL_GATHER, root), send, bytes, recv,
                  &blocks);
}

int sw_coll_gatherv(sw_group_t *g, int root, const void *send, size_t bytes,
                    void *recv, const sw_blocks_t *blocks)
{
    return gather(g, root, sw_what(SW_COLL_GATHERV, root), send, bytes, recv,
                  blocks);
}
