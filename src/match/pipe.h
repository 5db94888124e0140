/*
 * pipe.h - messages from one process of the node to another, in order.
 *
 * A pipe is a ring of cells (cell.h) in the receiver's control segment, with
 * one writer and one reader:
 *
 *     lines[0]   written by the sender: the ring is in use
 *     lines[1]   written by the receiver: cells consumed so far
 *     cells      | message | message    | free ...           |
 *                  ^ the receiver's next    ^ the sender's next
 *
 * A cell's turn is the number of its lap, so the receiver polls the very line
 * in which the next message comes. A cell in the midst of a message holds data
 * where another lap has a turn. The sender therefore clears the turn of the
 * cell behind a message, where data lies there, before it publishes the
 * message.
 *
 * The sender of a small message shall not wait because the receiver computes.
 * Where the ring is full the sender goes on in a *chunk*: cells in its own
 * shared memory. A last cell of the ring leads the receiver there, and chunks
 * lead to further chunks. When half of the ring is free again, a cell leads the
 * receiver back. All chunks of a process take SW_PIPE_CHUNKS_MAX bytes at
 * most; then, or where the arena has no room, there is no place for a message,
 * and the sender has to wait for the receiver.
 *
 * Memory order. A message is written before its turn (release), and read after
 * it (acquire). `consumed` is written after the cells were read (release) and
 * seen before they are written again (acquire). The chunk's `done` likewise.
 * The sender clears a turn before it releases the message in front. The
 * receiver looks at that cell only after it has acquired that message.
 */
#ifndef SW_MATCH_PIPE_H
#define SW_MATCH_PIPE_H

#include "cell.h"

#include <string.h>

typedef struct {
    _Alignas(SW_LINE) _Atomic uint32_t used;
    _Alignas(SW_LINE) _Atomic uint64_t consumed;
} sw_pipe_lines_t;

/* Largest payload of a message in a pipe with so many cells. */
static inline size_t sw_pipe_most(uint32_t cells)
{
    return (size_t)cells / 4 * SW_LINE - SW_CELL_HEAD;
}

#define SW_PIPE_CHUNK ((size_t)64 << 10)
#define SW_PIPE_CHUNKS_MAX ((size_t)256 << 20)

typedef struct sw_pipe_chunk {
    _Atomic uint32_t done;      /* the receiver is through */
    struct sw_pipe_chunk *next; /* the sender's own */
    sw_cell_t cell[];
} sw_pipe_chunk_t;

#define SW_PIPE_CHUNK_CELLS \
    ((uint32_t)((SW_PIPE_CHUNK - sizeof(sw_pipe_chunk_t)) / SW_LINE))

/* The sender's side; private. */
typedef struct {
    sw_cell_t *ring;
    sw_pipe_lines_t *lines;
    uint32_t cells;    /* a power of two */
    uint64_t next;     /* cells written so far */
    uint64_t consumed; /* as last read */
    /* Has the cell data where its turn belongs? [cells] */
    bool *data;
    sw_pipe_chunk_t *oldest, *chunk; /* of a chain; NULL: there is none */
    uint32_t at;                     /* in `chunk` */
    bool chained;
} sw_pipe_out_t;

/* The receiver's side; private. */
typedef struct {
    const sw_cell_t *cell; /* where the next message comes */
    uint32_t turn;         /* with this turn */
    uint32_t cells;
    const sw_cell_t *ring;
    sw_pipe_lines_t *lines;
    uint64_t next;          /* cells of the ring consumed */
    uint64_t told;          /* ... and told to the sender */
    sw_pipe_chunk_t *chunk; /* NULL: in the ring */
    char *arena;            /* the sender's, as mapped here */
} sw_pipe_in_t;

/* Bytes of a pipe with so many cells. */
static inline size_t sw_pipe_bytes(uint32_t cells)
{
    return sizeof(sw_pipe_lines_t) + cells * sizeof(sw_cell_t);
}

/* Each side's view of the pipe at `at`, which is zero before the sender opens
 * its side. False: no memory. */
SW_API bool sw_pipe_open_out(sw_pipe_out_t *out, void *at, uint32_t cells);
SW_API void sw_pipe_open_in(sw_pipe_in_t *in, void *at, uint32_t cells,
                            char *arena);

/* The turn of a ring's cell in its lap; never 0. */
static inline uint32_t sw_pipe_turn(uint64_t index, uint32_t cells)
{
    return (uint32_t)(index / cells % UINT32_MAX + 1);
}

/* Sending ------------------------------------------------------------------ */

SW_API sw_cell_t *sw_pipe_reserve_slow(sw_pipe_out_t *out, size_t bytes);
SW_API void sw_pipe_publish_slow(sw_pipe_out_t *out, sw_cell_t *cell,
                                 uint32_t count);

/* The cells for a message with a payload of so many bytes, sw_pipe_most at
 * most; the caller writes envelope and payload there, and publishes. NULL:
 * there is no place now. */
static inline sw_cell_t *sw_pipe_reserve(sw_pipe_out_t *out, size_t bytes)
{
    uint32_t count = sw_cell_count(bytes);
    uint32_t at = (uint32_t)out->next & (out->cells - 1);
    /* One cell stays free: it may have to lead to a chunk. */
    if (sw_likely(!out->chained && at + count <= out->cells &&
                  out->next + count + 1 <= out->consumed + out->cells))
        return &out->ring[at];
    return sw_pipe_reserve_slow(out, bytes);
}

/* The message at `cell`, as reserved, is written. */
static inline void sw_pipe_publish(sw_pipe_out_t *out, sw_cell_t *cell)
{
    uint32_t count = sw_cell_count(sw_cell_bytes(cell));
    uint64_t behind = out->next + 1;
    if (sw_unlikely(out->chained || count > 1 ||
                    out->data[behind & (out->cells - 1)])) {
        sw_pipe_publish_slow(out, cell, count);
        return;
    }
    uint32_t turn = sw_pipe_turn(out->next, out->cells);
    out->next = behind;
    atomic_store_explicit(&cell->turn, turn, memory_order_release);
}

/* Is at least half of the ring free, or at most one chunk in use? The sender of
 * a stream asks before each message, so that the stream takes no more
 * memory. */
SW_API bool sw_pipe_is_calm(sw_pipe_out_t *out);

/* Give back chunks that the receiver is through with. */
SW_API void sw_pipe_reap(sw_pipe_out_t *out);

/* Bytes of all chunks of this process. */
SW_API size_t sw_pipe_chunks(void);

/* Receiving ---------------------------------------------------------------- */

SW_API const sw_cell_t *sw_pipe_follow(sw_pipe_in_t *in);

/* So many lines of a message are fetched ahead. */
#define SW_PIPE_AHEAD 16u

/* The next message, or NULL. It stays there until sw_pipe_pop. */
static inline const sw_cell_t *sw_pipe_peek(sw_pipe_in_t *in)
{
    const sw_cell_t *cell = in->cell;
    if (!sw_cell_is(cell, in->turn))
        return NULL;
    /* Its further lines come while the caller looks for its receive. */
    uint32_t lines = sw_min(sw_cell_count(sw_cell_bytes(cell)), SW_PIPE_AHEAD);
    for (uint32_t i = 1; i < lines; i++)
        __builtin_prefetch(cell + i);
    return sw_likely(sw_cell_kind(cell) < SW_CELL_SKIP) ? cell
                                                        : sw_pipe_follow(in);
}

static inline void sw_pipe_tell(sw_pipe_in_t *in)
{
    in->told = in->next;
    atomic_store_explicit(&in->lines->consumed, in->next, memory_order_release);
}

/* The ring goes on at cell number `next`. */
static inline void sw_pipe_go(sw_pipe_in_t *in, uint64_t next)
{
    in->next = next;
    in->cell = &in->ring[next & (in->cells - 1)];
    in->turn = sw_pipe_turn(next, in->cells);
}

/* The receiver is through with the message that sw_pipe_peek has returned. */
static inline void sw_pipe_pop(sw_pipe_in_t *in)
{
    uint32_t count = sw_cell_count(sw_cell_bytes(in->cell));
    if (sw_unlikely(in->chunk)) {
        in->cell += count;
        return;
    }
    sw_pipe_go(in, in->next + count);
    if (sw_unlikely(in->next - in->told >= in->cells / 4))
        sw_pipe_tell(in);
}

#endif
