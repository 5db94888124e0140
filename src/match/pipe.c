/*
 * pipe.c - the ends of a pipe's ring, and its chunks; see pipe.h.
 */
#include "pipe.h"

#include "node/arena/arena.h"

#include <stdlib.h>

static _Atomic size_t chunk_bytes;

bool sw_pipe_open_out(sw_pipe_out_t *out, void *at, uint32_t cells)
{
    sw_assert((cells & (cells - 1)) == 0 && cells >= 16 &&
              sw_cell_count(sw_pipe_most(cells)) < SW_PIPE_CHUNK_CELLS);
    *out = (sw_pipe_out_t){
        .lines = at,
        .cells = cells,
        .ring = (sw_cell_t *)((char *)at + sizeof(sw_pipe_lines_t))};
    out->data = calloc(cells, sizeof *out->data);
    if (out->data)
        atomic_store_explicit(&out->lines->used, 1, memory_order_release);
    return out->data;
}

void sw_pipe_open_in(sw_pipe_in_t *in, void *at, uint32_t cells, char *arena)
{
    *in = (sw_pipe_in_t){
        .lines = at,
        .cells = cells,
        .arena = arena,
        .ring = (sw_cell_t *)((char *)at + sizeof(sw_pipe_lines_t))};
    sw_pipe_go(in, 0);
}

/* Sending ------------------------------------------------------------------ */

static uint32_t place(const sw_pipe_out_t *out, uint64_t index)
{
    return (uint32_t)index & (out->cells - 1);
}

/* Cells that the receiver has consumed, or that were never used. */
static uint64_t free_cells(sw_pipe_out_t *out)
{
    out->consumed = atomic_load_explicit(&out->lines->consumed,
                                         memory_order_acquire);
    sw_assert(out->next - out->consumed <= out->cells);
    return out->cells - (out->next - out->consumed);
}

/* No data may stand where the receiver will look for a turn. The cell is
 * free. */
static void clear_turn(sw_pipe_out_t *out, uint64_t index)
{
    bool *data = &out->data[place(out, index)];
    if (*data)
        atomic_store_explicit(&out->ring[place(out, index)].turn, 0,
                              memory_order_relaxed);
    *data = false;
}

/* A cell that leads elsewhere. */
static void fill(sw_cell_t *cell, uint32_t kind, uint64_t payload)
{
    cell->size = (uint32_t)sizeof payload * SW_CELL_KINDS + kind;
    memcpy(cell->payload, &payload, sizeof payload);
}

static void publish_in_ring(sw_pipe_out_t *out, uint32_t count, uint64_t next)
{
    uint32_t at = place(out, out->next);
    uint32_t turn = sw_pipe_turn(out->next, out->cells);
    sw_assert(!out->data[at]);
    for (uint32_t i = 1; i < count; i++)
        out->data[at + i] = true;
    if (next < out->consumed + out->cells)
        clear_turn(out, next);
    out->next = next;
    atomic_store_explicit(&out->ring[at].turn, turn, memory_order_release);
}

static void publish_in_chunk(sw_pipe_out_t *out, uint32_t count)
{
    sw_cell_t *cell = &out->chunk->cell[out->at];
    out->at += count;
    if (out->at < SW_PIPE_CHUNK_CELLS)
        atomic_store_explicit(&cell[count].turn, 0, memory_order_relaxed);
    atomic_store_explicit(&cell->turn, 1, memory_order_release);
}

void sw_pipe_publish_slow(sw_pipe_out_t *out, sw_cell_t *cell, uint32_t count)
{
    if (out->chained)
        publish_in_chunk(out, count);
    else
        publish_in_ring(out, count, out->next + count);
}

void sw_pipe_reap(sw_pipe_out_t *out)
{
    sw_pipe_chunk_t *chunk;
    while ((chunk = out->oldest) &&
           atomic_load_explicit(&chunk->done, memory_order_acquire)) {
        out->oldest = chunk->next;
        if (!chunk->next)
            out->chunk = NULL;
        atomic_fetch_sub(&chunk_bytes, SW_PIPE_CHUNK);
        sw_arena_free(chunk);
    }
}

bool sw_pipe_is_calm(sw_pipe_out_t *out)
{
    sw_pipe_reap(out);
    return out->chained ? out->oldest == out->chunk
                        : free_cells(out) >= out->cells / 2;
}

size_t sw_pipe_chunks(void)
{
    return atomic_load_explicit(&chunk_bytes, memory_order_relaxed);
}

static sw_pipe_chunk_t *new_chunk(void)
{
    if (atomic_fetch_add(&chunk_bytes, SW_PIPE_CHUNK) + SW_PIPE_CHUNK <=
        SW_PIPE_CHUNKS_MAX) {
        sw_pipe_chunk_t *chunk = sw_arena_alloc_shared(SW_PIPE_CHUNK, SW_LINE);
        if (chunk) {
            atomic_store_explicit(&chunk->done, 0, memory_order_relaxed);
            atomic_store_explicit(&chunk->cell[0].turn, 0,
                                  memory_order_relaxed);
            chunk->next = NULL;
            return chunk;
        }
    }
    atomic_fetch_sub(&chunk_bytes, SW_PIPE_CHUNK);
    return NULL;
}

/* The receiver comes to one more chunk by the cell at the sender's place. */
static bool chain(sw_pipe_out_t *out)
{
    sw_pipe_reap(out);
    sw_pipe_chunk_t *chunk = new_chunk();
    if (!chunk)
        return false;
    uint64_t offset = sw_arena_offset(chunk, SW_PIPE_CHUNK);
    sw_assert(offset != UINT64_MAX);
    if (out->chunk)
        out->chunk->next = chunk;
    else
        out->oldest = chunk;
    if (out->chained) {
        fill(&out->chunk->cell[out->at], SW_CELL_CHAIN, offset);
        publish_in_chunk(out, 1);
    } else {
        fill(&out->ring[place(out, out->next)], SW_CELL_CHAIN, offset);
        publish_in_ring(out, 1, out->next + 1);
    }
    out->chunk = chunk;
    out->at = 0;
    return out->chained = true;
}

/* The ring has room again: the receiver comes back to it. */
static void unchain(sw_pipe_out_t *out)
{
    clear_turn(out, out->next);
    fill(&out->chunk->cell[out->at], SW_CELL_RETURN, 0);
    publish_in_chunk(out, 1);
    out->chained = false;
    sw_pipe_reap(out);
}

/* What is left of this lap is too short. */
static void skip(sw_pipe_out_t *out)
{
    uint64_t next = out->next + out->cells - place(out, out->next);
    fill(&out->ring[place(out, out->next)], SW_CELL_SKIP, 0);
    publish_in_ring(out, 1, next);
}

sw_cell_t *sw_pipe_reserve_slow(sw_pipe_out_t *out, size_t bytes)
{
    uint32_t count = sw_cell_count(bytes), left;
    uint64_t room = free_cells(out);
    sw_assert(bytes <= sw_pipe_most(out->cells));
    if (out->chained && room >= out->cells / 2)
        unchain(out);
    if (!out->chained) {
        left = out->cells - place(out, out->next);
        uint32_t skipped = count > left ? left : 0;
        if (room >= (uint64_t)count + skipped + 1) {
            if (skipped)
                skip(out);
            return &out->ring[place(out, out->next)];
        }
    } else if (out->at + count + 1 <= SW_PIPE_CHUNK_CELLS) {
        return &out->chunk->cell[out->at];
    }
    return chain(out) ? &out->chunk->cell[0] : NULL;
}

/* Receiving ---------------------------------------------------------------- */

static void leave_chunk(sw_pipe_in_t *in)
{
    if (in->chunk)
        atomic_store_explicit(&in->chunk->done, 1, memory_order_release);
    in->chunk = NULL;
}

/* The cell leads elsewhere. */
static void follow(sw_pipe_in_t *in)
{
    uint64_t offset;
    memcpy(&offset, in->cell->payload, sizeof offset);
    switch (sw_cell_kind(in->cell)) {
    case SW_CELL_SKIP:
        sw_pipe_go(in, in->next + in->cells - (in->next & (in->cells - 1)));
        break;
    case SW_CELL_CHAIN:
        /* The sender counts on all that was consumed before. */
        if (!in->chunk) {
            in->next++;
            sw_pipe_tell(in);
        }
        leave_chunk(in);
        in->chunk = (sw_pipe_chunk_t *)(in->arena + offset);
        in->cell = in->chunk->cell;
        in->turn = 1;
        break;
    default:
        sw_assert(sw_cell_kind(in->cell) == SW_CELL_RETURN);
        leave_chunk(in);
        sw_pipe_go(in, in->next);
    }
}

const sw_cell_t *sw_pipe_follow(sw_pipe_in_t *in)
{
    while (true) {
        follow(in);
        if (!sw_cell_is(in->cell, in->turn))
            return NULL;
        if (sw_cell_kind(in->cell) < SW_CELL_SKIP)
            return in->cell;
    }
}
