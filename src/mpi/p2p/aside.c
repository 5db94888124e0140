/*
 * aside.c - see aside.h.
 */
#include "aside.h"

#include "mpi/base/buffer.h"

/* Room for the elements with their spaces; returns where they begin. */
static void *room_for(int64_t count, const sw_datatype_t *type, void **block)
{
    MPI_Aint low, span;
    MPI_Aint steps = (MPI_Aint)(count - 1) * (MPI_Aint)type->extent;
    host.Type_get_true_extent(type->handle, &low, &span);
    span += steps < 0 ? -steps : steps;
    low += steps < 0 ? steps : 0;
    *block = sw_temporary((size_t)span);
    return (void *)((intptr_t)*block - low);
}

const void *sw_set_aside(const void *buffer, int64_t count,
                         const sw_datatype_t *type, MPI_Comm comm, void **block)
{
    size_t bytes = (size_t)count * type->size;
    if (type->dense) {
        *block = sw_temporary(bytes);
        sw_pack(buffer, count, type, *block, comm);
        return *block;
    }
    void *copy = room_for(count, type, block);
    char *packed = sw_temporary(bytes);
    sw_pack(buffer, count, type, packed, comm);
    sw_unpack(packed, copy, count, type, comm);
    sw_temporary_free(packed);
    return copy;
}
