/*
 * vector.h - the blocks of the v and w variants, by their counts and
 * displacements.
 */
#ifndef SW_MPI_COLL_VECTOR_H
#define SW_MPI_COLL_VECTOR_H

#include "mpi/base/buffer.h"
#include "mpi/base/counts.h"

/* Are all n counts there and none negative? */
static inline bool sw_vector_counts_ok(sw_vector_t counts, int n)
{
    if (!counts.at)
        return false;
    for (int i = 0; i < n; i++)
        if (sw_counts_at(counts, i) < 0)
            return false;
    return true;
}

/* Is there anything in n blocks? */
static inline bool sw_vector_counts_any(sw_vector_t counts, int n)
{
    for (int i = 0; i < n; i++)
        if (sw_counts_at(counts, i) > 0)
            return true;
    return false;
}

/* Are the lists of n blocks right? Empty blocks need no displacements. Open MPI
 * raises an error all the same. */
static inline bool sw_vector_lists_ok(sw_vector_t counts, sw_vector_t displs,
                                      int n)
{
#ifdef OMPI_MAJOR_VERSION
    return displs.at && sw_vector_counts_ok(counts, n);
#else
    return sw_vector_counts_ok(counts, n) &&
           (displs.at || !sw_vector_counts_any(counts, n));
#endif
}

static inline int64_t sw_vector_displ(sw_vector_t displs, int i)
{
    return displs.at ? sw_counts_at(displs, i) : 0;
}

/* n blocks of a user's buffer, as the coll room takes them: in place where all
 * types are dense or have layouts, else (packed side by side) in temporary
 * memory. */
typedef struct {
    char *data;
    void *temporary;
    void *user;
    sw_vector_t counts, displacements;
    const sw_datatype_t *const *types; /* [n], or [1] with `same` */
    bool same;
    bool bytes; /* displacements count bytes, not extents */
    int n;
    MPI_Comm comm;
} sw_vbuffer_t;

/* Describe them; `list` and `data` (n each) are room for that. `pack`: always
 * in temporary memory. To be read: the data is packed now, if need be. To be
 * written: sw_vbuffer_received unpacks it. */
sw_blocks_t sw_vbuffer_send(sw_vbuffer_t *b, bool pack, sw_extent_t *list,
                            sw_data_t *data);
sw_blocks_t sw_vbuffer_receive(sw_vbuffer_t *b, sw_extent_t *list,
                               sw_data_t *data);
void sw_vbuffer_received(sw_vbuffer_t *b);
void sw_vbuffer_end(sw_vbuffer_t *b);

/* Stands for the type of an empty block. No call asks for that one, which may
 * be MPI_DATATYPE_NULL: only this member would decline, and the others would
 * wait for it. */
extern const sw_datatype_t sw_nothing __attribute__((visibility("hidden")));

/* The types of n blocks; false as sw_buffer_usable. */
bool sw_vector_types_of(const MPI_Datatype types[], sw_vector_t counts, int n,
                        MPI_Comm comm, const sw_datatype_t **to, int *result);

/* A collective goes on after its call, and the program may free the n types
 * meanwhile. */
void sw_vector_types_hold(const sw_datatype_t *const types[], int n);
void sw_vector_types_drop(const sw_datatype_t *const types[], int n);

/* How many types a buffer lists. */
static inline int sw_vbuffer_types(const sw_vbuffer_t *b)
{
    return b->same ? 1 : b->n;
}

#endif
