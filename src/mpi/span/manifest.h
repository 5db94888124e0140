/*
 * manifest.h - which member sends how much to which, in the v and w forms of
 * Alltoall, as the leaders find it out.
 */
#ifndef SW_MPI_SPAN_MANIFEST_H
#define SW_MPI_SPAN_MANIFEST_H

#include "bundle.h"

/* The sizes of one member's blocks. */
typedef struct {
    sw_span_t *s;
    size_t bytes;             /* of each, where they are equal */
    const uint64_t *out, *in; /* [n] by node; NULL: equal */
} sw_sizes_t;

/* The bytes of a row of sizes (NULL: equal) that go to a node's members, and to
 * those of all other nodes. */
size_t sw_sizes_to(const sw_sizes_t *sizes, const uint64_t *row, int node);
size_t sw_sizes_away(const sw_sizes_t *sizes, const uint64_t *row);

/* What a leader knows of its members: a row for each. */
typedef struct {
    const char *base; /* NULL: equal */
    size_t stride;
} sw_table_t;

static inline const uint64_t *sw_table_row(const sw_table_t *table, int i)
{
    return table->base
               ? (const uint64_t *)(table->base + (size_t)i * table->stride)
               : NULL;
}

/* A box of up to so many bytes lies in its member's slot. */
#define SW_SLOT_SMALL 1024

/* A leader's; of a member, `small` and `way` alone. */
typedef struct {
    sw_way_t way;
    bool small;           /* this node's blocks have gone in letters */
    sw_table_t out, in;   /* what each member sends, and receives */
    char **blocks;        /* [nodes] in letters that came, or NULL */
    char *slots, *coming; /* to be freed */
    char **letter;        /* likewise, [nodes] */
} sw_manifest_t;

/* A member's slot: its sizes, then room for its box, if that is small. */
static inline size_t sw_manifest_head(const sw_span_t *s)
{
    return ((size_t)s->n + 1) * sizeof(uint64_t);
}
char *sw_manifest_slot(const sw_sizes_t *sizes, size_t leaving);

/* Agrees on the way. */
int sw_manifest_agree(sw_manifest_t *m, const sw_sizes_t *sizes,
                      sw_collective_t id, const char *slot);
void sw_manifest_end(sw_manifest_t *m, const sw_span_t *s);

/* The messages between this node and the others, by a table. */
void sw_manifest_parts(const sw_sizes_t *sizes, const sw_table_t *table,
                       sw_parts_t *parts);

#endif
