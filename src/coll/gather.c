/*
 * gather.c - Gather and Gatherv.
 *
 * Members stage small blocks and leave at once. For large ones the root exposes
 * its receive buffer, and the members write into it, all at once. In Gatherv
 * some blocks may be large and others small. A member knows its own size; the
 * root knows all. It exposes its buffer, with a table of the places, if any
 * block is large. Of blocks with gaps it shows each, or has memory that stands
 * in for all.
 *
 * Every member posts an entry, a large sender one without payload. So a root
 * that expects another size than a member has sees it, and neither waits for
 * what will not come.
 */
#include "ask.h"
#include "coll.h"

#include "node/arena/show.h"
#include "node/temporary.h"

/* What the members write into, and the places of the large blocks there. */
typedef struct {
    sw_sequence_t *seq;
    uint64_t step;
    size_t eager; /* the team's */
    uint32_t what;
    char *recv;
    const sw_blocks_t *blocks;
} root_t;

/* A block that its sender has staged. */
static int take(const root_t *r, int from, size_t room)
{
    sw_source_t source;
    int rc = sw_source(r->seq, from, r->step, r->what, &source);
    if (rc)
        return rc;
    sw_sequence_read_ahead(r->seq, from, r->step, source.bytes);
    if (source.bytes > room)
        return SW_TRUNCATED;
    sw_data_t to = sw_block_data(r->blocks, r->recv, from);
    return sw_source_put(&source, &to, source.bytes);
}

/* The root's own block, and those it expects to be staged. */
static int fill_in(const root_t *r, const sw_data_t *send, size_t bytes)
{
    sw_sequence_t *seq = r->seq;
    size_t room = sw_block(r->blocks, seq->me).bytes;
    sw_data_t own = sw_block_data(r->blocks, r->recv, seq->me);
    int rc = bytes > room ? SW_TRUNCATED : SW_OK;
    sw_source_keep(send, &own, sw_min(bytes, room));
    for (int k = 1; k < seq->n; k++) {
        int from = sw_sequence_right(seq, k);
        room = sw_block(r->blocks, from).bytes;
        if (room == 0 || room > r->eager)
            continue;
        int bad = take(r, from, room);
        rc = rc ? rc : bad;
    }
    return rc;
}

/* The bytes of a block, if it is large. */
static uint64_t large(const root_t *r, int i)
{
    uint64_t bytes = sw_block(r->blocks, i).bytes;
    return i == r->seq->me || bytes <= r->eager ? 0 : bytes;
}

/* Where the large blocks lie in the root's buffer. */
typedef struct {
    int64_t low, high; /* the stretch that holds them */
    size_t total;      /* their bytes; 0: there are none */
} large_t;

static large_t large_blocks(const root_t *r)
{
    large_t l = {INT64_MAX, INT64_MIN, 0};
    for (int i = 0; i < r->seq->n; i++) {
        sw_extent_t b = sw_block(r->blocks, i);
        if (!large(r, i))
            continue;
        l.low = b.offset < l.low ? b.offset : l.low;
        int64_t end = b.offset + (int64_t)b.bytes;
        l.high = end > l.high ? end : l.high;
        l.total += b.bytes;
    }
    return l;
}

/* Shows the places of the large blocks; false if the members had better write
 * elsewhere. */
static bool show(const root_t *r, sw_entry_t *e)
{
    SW_ARRAY(uint64_t, bytes, r->seq->n);
    for (int i = 0; i < r->seq->n; i++)
        bytes[i] = large(r, i);
    return sw_show_blocks(r->seq, e, r->step, SW_READ_ALL, r->seq->n,
                          r->blocks->data, bytes);
}

/* Lets the others write to `to`, which lies at `offset`, and lists where each
 * block goes: side by side if `packed`. */
static void open_up(const root_t *r, sw_entry_t *e, const char *to,
                    uint64_t offset, bool packed, int64_t low)
{
    e->form = SW_FORM_NONE;
    e->recv = offset != UINT64_MAX
                  ? (sw_part_t){.form = SW_FORM_ARENA, .address = offset}
                  : (sw_part_t){.form = SW_FORM_CMA, .address = (uintptr_t)to};
    sw_extent_t *table = (sw_extent_t *)sw_sequence_claim_stage(
        r->seq, r->step, SW_READ_ALL, (size_t)r->seq->n * sizeof *table, e);
    int64_t at = 0;
    for (int i = 0; i < r->seq->n; i++) {
        uint64_t bytes = large(r, i);
        int64_t place = packed ? at : sw_block(r->blocks, i).offset - low;
        table[i] = (sw_extent_t){place, bytes};
        at += (int64_t)bytes;
    }
}

/* Where the others find the places of all large blocks, or UINT64_MAX. A sender
 * may not fill its block to the end: the rest must read as it was. */
static uint64_t direct(const root_t *r, large_t l)
{
    uint64_t offset = sw_arena_offset(r->recv + l.low,
                                      (size_t)(l.high - l.low));
    for (int i = 0; i < r->seq->n && offset != UINT64_MAX; i++) {
        uint64_t bytes = large(r, i);
        char *at = r->recv + sw_block(r->blocks, i).offset;
        if (bytes && sw_payload_direct(r->seq->team, at, bytes) == UINT64_MAX)
            offset = UINT64_MAX;
        else if (bytes)
            sw_show_stage(at, bytes);
    }
    return offset;
}

/* Memory that stands in for all large blocks, and where the others see it.
 * Where they do not, they reach it in the form SW_FORM_CMA. NULL: they reach
 * the blocks themselves. */
static char *stand_in(const root_t *r, large_t l, uint64_t *offset)
{
    sw_sequence_t *seq = r->seq;
    char *copy = NULL;
    *offset = UINT64_MAX;
    if (!r->blocks->data && seq->team->arena)
        *offset = direct(r, l);
    if (*offset != UINT64_MAX)
        return NULL;
    if (r->blocks->data ? seq->team->arena
                        : sw_payload_better_copied(seq, l.total))
        copy = sw_temporary_shared(l.total, offset);
    if (!copy && r->blocks->data)
        copy = sw_temporary(l.total);
    return copy;
}

/* Exposes the places of the large blocks, or memory that stands in for them,
 * since the memory between the blocks is not ours. Posts where each block goes.
 * Returns the stand-in, or NULL. *mapped: the others write to the blocks by
 * loads and stores. */
static char *invite(const root_t *r, large_t l, bool *mapped)
{
    sw_sequence_t *seq = r->seq;
    sw_entry_t *e = sw_sequence_claim(seq, r->step, SW_READ_ALL);
    e->what = r->what;
    e->bytes = 0;
    char *copy = NULL;
    *mapped = true;
    if (!r->blocks->data || !show(r, e)) {
        uint64_t offset;
        copy = stand_in(r, l, &offset);
        *mapped = !copy && offset != UINT64_MAX;
        open_up(r, e, copy ? copy : r->recv + l.low, offset, copy, l.low);
    }
    sw_sequence_post(seq, e, r->step);
    return copy;
}

/* All large blocks have come. Moves them out of the stand-in, and takes those
 * of members that staged less than the root expected. */
static int settle(const root_t *r, char *copy, bool mapped)
{
    size_t at = 0;
    int rc = SW_OK;
    for (int i = 0; i < r->seq->n; i++) {
        uint64_t bytes = large(r, i);
        if (!bytes)
            continue;
        unsigned form = sw_sequence_entry(r->seq, i, r->step)->form;
        int bad = SW_OK;
        if (form == SW_FORM_INLINE || form == SW_FORM_STAGED) {
            bad = take(r, i, bytes);
        } else if (copy) {
            sw_data_t packed = {.at = copy + at};
            sw_data_t to = sw_block_data(r->blocks, r->recv, i);
            sw_data_copy(&packed, &to, 0, bytes);
        } else if (mapped) {
            sw_data_t to = sw_block_data(r->blocks, r->recv, i);
            sw_data_fetch(&to, 0, bytes);
        }
        rc = rc ? rc : bad;
        at += bytes;
    }
    sw_temporary_free(copy);
    return rc;
}

static int receive(const root_t *r, const sw_data_t *send, size_t bytes)
{
    large_t l = large_blocks(r);
    char *copy = NULL;
    bool mapped = false;
    if (l.total)
        copy = invite(r, l, &mapped);
    int rc = fill_in(r, send, bytes);
    if (l.total) {
        sw_sequence_await_done_all(r->seq, r->step);
        int bad = settle(r, copy, mapped);
        rc = rc ? rc : bad;
    }
    return rc;
}

/* Writes a large block, piece by piece, where the root shows that it goes. */
static int write_shown(const sw_peer_t *root, const sw_shown_block_t *table,
                       int me, const sw_data_t *send, size_t bytes)
{
    sw_shown_block_t block = table[me];
    sw_data_t to;
    if (block.bytes < bytes)
        return SW_TRUNCATED;
    if (sw_data_find(root, &block.shown, bytes, &to))
        return SW_UNREACHABLE;
    sw_data_copy(send, &to, 0, bytes);
    sw_data_done(&to);
    return SW_OK;
}

static int write_part(sw_sequence_t *seq, int root, const sw_part_t *recv,
                      sw_extent_t block, const sw_data_t *send, size_t bytes)
{
    uint64_t offset = (uint64_t)block.offset;
    char *window = sw_peer_window(seq->peer[root], recv, offset);
    char *packed = NULL;
    if (block.bytes < bytes)
        return SW_TRUNCATED;
    if (send->layout && window) {
        sw_data_pack(send, bytes, window);
        return SW_OK;
    }
    if (send->layout) {
        packed = sw_temporary(bytes);
        sw_data_pack(send, bytes, packed);
    }
    int rc = sw_sequence_write(seq, root, recv, offset,
                               packed ? packed : send->at, bytes);
    sw_temporary_free(packed);
    return rc;
}

/* Announces a large block, and writes it where the root wants it. */
static int send_large(sw_sequence_t *seq, int root, uint64_t step,
                      uint32_t what, const sw_data_t *send, size_t bytes)
{
    sw_entry_t *mine = sw_sequence_claim(seq, step, root);
    mine->what = what;
    mine->form = SW_FORM_NONE;
    mine->bytes = bytes;
    sw_sequence_post(seq, mine, step);
    int rc = SW_OK;
    const sw_entry_t *e = sw_sequence_await(seq, root, step, &rc);
    if (!e)
        return rc;
    if (e->what != what)
        return sw_sequence_mismatch(seq);
    if (!sw_sequence_touch(seq))
        return SW_BROKEN;
    const char *table = sw_sequence_staged(seq, root, e->place);
    if (e->form == SW_FORM_SHOWN)
        rc = write_shown(seq->peer[root], (const sw_shown_block_t *)table,
                         seq->me, send, bytes);
    else
        rc = write_part(seq, root, &e->recv,
                        ((const sw_extent_t *)table)[seq->me], send, bytes);
    sw_sequence_touched(seq);
    return rc;
}

static int gather(sw_sequence_t *seq, int root, uint32_t what,
                  const sw_data_t *send, size_t bytes, void *recv,
                  const sw_blocks_t *blocks)
{
    uint64_t step = ++seq->step;
    size_t eager = seq->team->eager;
    int rc = SW_OK;
    if (seq->me == root)
        rc = receive(&(root_t){seq, step, eager, what, recv, blocks}, send,
                     bytes);
    else if (bytes > eager)
        rc = send_large(seq, root, step, what, send, bytes);
    else
        sw_payload_stage_data(seq, step, what, root, send, bytes);
    sw_sequence_done(seq, step);
    return rc;
}

int sw_coll_gather(sw_sequence_t *seq, int root, const sw_data_t *send,
                   size_t bytes, void *recv, const sw_blocks_t *blocks)
{
    return gather(seq, root, sw_sequence_what(SW_COLL_GATHER, root), send,
                  bytes, recv, blocks);
}

int sw_coll_gatherv(sw_sequence_t *seq, int root, const sw_data_t *send,
                    size_t bytes, void *recv, const sw_blocks_t *blocks)
{
    return gather(seq, root, sw_sequence_what(SW_COLL_GATHERV, root), send,
                  bytes, recv, blocks);
}
