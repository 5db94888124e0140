/*
 * move.h - what the arguments of a collective say that moves blocks.
 *
 * What MPI ignores (counts at a member that is not the root, say) may be
 * anything, so it does not come in here: a side without a datatype lists no
 * counts.
 */
#ifndef SW_MPI_COLL_MOVE_H
#define SW_MPI_COLL_MOVE_H

#include "vector.h"

/* What this member sends, or what it receives. */
typedef struct {
    enum {
        SW_HALF_NONE,
        SW_HALF_ROWS,   /* blocks of `count` elements in a row */
        SW_HALF_LISTED, /* blocks of counts of their own */
        SW_HALF_EACH    /* ... and of types of their own */
    } form;
    void *buffer;
    int64_t count;
    sw_vector_t counts, displs;
    const sw_datatype_t *type;
    const sw_datatype_t **types; /* [n], the caller's */
} sw_half_t;

typedef struct {
    int root;
    bool in_place; /* this member's call is */
    sw_half_t out, in;
} sw_move_t;

/* Do members send a block to each one, and get one from each? Else one block to
 * all, and from the root. */
static inline bool sw_move_deals(sw_collective_t id)
{
    return id == SW_COLL_SCATTER || id == SW_COLL_SCATTERV ||
           (id >= SW_COLL_ALLTOALL && id <= SW_COLL_ALLTOALLW);
}
static inline bool sw_move_collects(sw_collective_t id)
{
    return id != SW_COLL_BCAST && id != SW_COLL_SCATTER &&
           id != SW_COLL_SCATTERV;
}

/* Each of these sets only what is read. A processor's queue of stores is short,
 * and a small call waits for it. Rows without a type are none. */
static inline void sw_half_rows(sw_half_t *p, const void *buffer, int64_t count,
                                const sw_datatype_t *type)
{
    p->form = type ? SW_HALF_ROWS : SW_HALF_NONE;
    p->buffer = (void *)(uintptr_t)buffer;
    p->count = count;
    p->type = type;
}
static inline void sw_half_list(sw_half_t *p, const void *buffer,
                                sw_vector_t counts, sw_vector_t displs,
                                const sw_datatype_t *type)
{
    p->form = SW_HALF_LISTED;
    p->buffer = (void *)(uintptr_t)buffer;
    p->counts = counts;
    p->displs = displs;
    p->type = type;
}
static inline void sw_half_each(sw_half_t *p, const void *buffer,
                                sw_vector_t counts, sw_vector_t displs,
                                const sw_datatype_t **types)
{
    p->form = SW_HALF_EACH;
    p->buffer = (void *)(uintptr_t)buffer;
    p->counts = counts;
    p->displs = displs;
    p->types = types;
}

static inline bool sw_half_is_list(const sw_half_t *p)
{
    return p->form >= SW_HALF_LISTED;
}

/* A block of either form. */
typedef struct {
    const char *at; /* of element 0 */
    int64_t count;
    const sw_datatype_t *type;
    uint64_t bytes;
} sw_half_block_t;

static inline sw_half_block_t sw_half_block(const sw_half_t *p, int i)
{
    sw_half_block_t x;
    bool list = sw_half_is_list(p), each = p->form == SW_HALF_EACH;
    int64_t place = list ? sw_vector_displ(p->displs, i) : i * p->count;
    x.type = each ? p->types[i] : p->type;
    x.count = list ? sw_counts_at(p->counts, i) : p->count;
    x.bytes = (uint64_t)x.count * x.type->size;
    x.at = (const char *)((intptr_t)p->buffer +
                          place * (each ? 1 : x.type->extent));
    return x;
}

/* Copy a block to another of as many bytes, by way of memory of ours. */
static inline void sw_half_block_copy(const sw_half_block_t *from,
                                      const sw_half_block_t *to, MPI_Comm comm)
{
    char *data = sw_temporary(from->bytes);
    sw_pack(from->at, from->count, from->type, data, comm);
    sw_unpack(data, (void *)(uintptr_t)to->at, to->count, to->type, comm);
    sw_temporary_free(data);
}

/* The n blocks of a list. */
static inline sw_vbuffer_t sw_half_blocks(const sw_half_t *p, int n,
                                          MPI_Comm comm)
{
    bool each = p->form == SW_HALF_EACH;
    return (sw_vbuffer_t){
        .user = p->buffer,
        .counts = p->counts,
        .displacements = p->displs,
        .types = each ? p->types : (const sw_datatype_t **)(uintptr_t)&p->type,
        .same = !each,
        .bytes = each,
        .n = n,
        .comm = comm};
}

#endif
