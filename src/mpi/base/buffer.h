/*
 * buffer.h - the user's buffers as the rooms below take them: contiguous bytes,
 * or what a layout picks.
 *
 * Where the host alone understands the datatype, neither is known. The host
 * then packs the buffer into a temporary block, or unpacks it from there, at
 * the price of a copy.
 *
 * Sizes are in bytes by signature: count * size.
 */
#ifndef SW_MPI_BASE_BUFFER_H
#define SW_MPI_BASE_BUFFER_H

#include "datatype.h"
#include "coll/coll.h"
#include "node/temporary.h"

typedef struct {
    sw_data_t data;
    size_t bytes;
    void *temporary; /* to be freed; NULL: `data` is the user's */
    void *user;
    int64_t count;
    const sw_datatype_t *type;
    MPI_Comm comm;
} sw_buffer_t;

/* A buffer to be read: packed if need be. */
void sw_buffer_send(sw_buffer_t *b, const void *user, int64_t count,
                    const sw_datatype_t *type, MPI_Comm comm);
/* The same, always as a copy. */
void sw_buffer_copy(sw_buffer_t *b, const void *user, int64_t count,
                    const sw_datatype_t *type, MPI_Comm comm);
/* A buffer to be written: sw_buffer_received unpacks it if need be. */
void sw_buffer_receive(sw_buffer_t *b, void *user, int64_t count,
                       const sw_datatype_t *type, MPI_Comm comm);
void sw_buffer_received(sw_buffer_t *b);
/* Free without unpacking. */
void sw_buffer_end(sw_buffer_t *b);

/* Pack or unpack `count` elements at `user` to or from `data`. */
void sw_pack(const void *user, int64_t count, const sw_datatype_t *type,
             char *data, MPI_Comm comm);
void sw_unpack(const char *data, void *user, int64_t count,
               const sw_datatype_t *type, MPI_Comm comm);

/* Is a buffer missing for so many elements? Those of a type with gaps may lie
 * at MPI_BOTTOM, which is NULL. */
static inline bool sw_buffer_missing(const void *buffer, int64_t count,
                                     const sw_datatype_t *d)
{
    return !buffer && count && d->dense && d->size;
}

/* Can `count` elements at `buffer` take part? False: the host is to judge, or
 * has raised its error already (*result tells). */
static inline bool sw_buffer_usable(const void *buffer, int64_t count,
                                    MPI_Datatype type, MPI_Comm comm,
                                    const sw_datatype_t **d, int *result)
{
    *d = sw_datatype(type, comm, result);
    return *d && count >= 0 && buffer != MPI_IN_PLACE &&
           !sw_buffer_missing(buffer, count, *d);
}

/* Where element `n` of a buffer starts. MPI_BOTTOM may be NULL. */
static inline void *sw_buffer_element(const void *user, int64_t n,
                                      const sw_datatype_t *type)
{
    return (void *)((intptr_t)user + n * type->extent);
}

#endif
