/*
 * buffer.c - see buffer.h.
 *
 * A layout packs. Of a type that has none, the host does it: MPI_Pack counts in
 * int, so elements are packed in groups that stay below that; a single element
 * of 2 GiB or more would not fit.
 */
#include "buffer.h"

#include "reach.h"
#include "node/base/copy.h"

/* Elements per call of the host's int-counted pack. */
static int64_t group_of(const sw_datatype_t *type)
{
    size_t size = type->size ? type->size : 1;
    int64_t group = (int64_t)((1u << 30) / size);
    return group > 0 ? group : 1;
}

void sw_pack(const void *user, int64_t count, const sw_datatype_t *type,
             char *data, MPI_Comm comm)
{
    if (sw_out_of_reach(user, type)) {
        sw_reach_pack(user, count, type, data, comm);
        return;
    }
    if (type->dense) {
        sw_copy(data, user, (size_t)count * type->size);
        return;
    }
    if (type->layout) {
        sw_layout_pack(type->layout, user, count, 0,
                       (uint64_t)count * type->size, data);
        return;
    }
    int64_t group = group_of(type);
    for (int64_t i = 0; i < count; i += group) {
        int now = (int)(count - i < group ? count - i : group), at = 0;
        int bytes = (int)((size_t)now * type->size);
        void *element = sw_buffer_element(user, i, type);
        char *place = data + (size_t)i * type->size;
        /* MPICH 4.0 refuses MPI_BOTTOM in MPI_Pack and MPI_Unpack. */
        if (element == MPI_BOTTOM)
            sw_reach_pack(element, now, type, place, comm);
        else
            host.Pack(element, now, type->handle, place, bytes, &at, comm);
    }
}

void sw_unpack(const char *data, void *user, int64_t count,
               const sw_datatype_t *type, MPI_Comm comm)
{
    if (sw_out_of_reach(user, type)) {
        sw_reach_unpack(data, user, count, type, comm);
        return;
    }
    if (type->dense) {
        sw_copy(user, data, (size_t)count * type->size);
        return;
    }
    if (type->layout) {
        sw_layout_unpack(type->layout, user, count, 0,
                         (uint64_t)count * type->size, data);
        return;
    }
    int64_t group = group_of(type);
    for (int64_t i = 0; i < count; i += group) {
        int now = (int)(count - i < group ? count - i : group), at = 0;
        int bytes = (int)((size_t)now * type->size);
        void *element = sw_buffer_element(user, i, type);
        const char *place = data + (size_t)i * type->size;
        if (element == MPI_BOTTOM)
            sw_reach_unpack(place, element, now, type, comm);
        else
            host.Unpack(place, bytes, &at, element, now, type->handle, comm);
    }
}

static void describe(sw_buffer_t *b, const void *user, int64_t count,
                     const sw_datatype_t *type, MPI_Comm comm)
{
    *b = (sw_buffer_t){.user = (void *)(uintptr_t)user,
                       .count = count,
                       .type = type,
                       .comm = comm,
                       .bytes = (size_t)count * type->size};
    bool away = count && sw_out_of_reach(user, type);
    if (sw_unlikely(away))
        sw_reach_note(comm, !type->dense);
    if (type->dense && !away)
        b->data = sw_data_plain(user);
    else if (type->layout && !away)
        b->data = (sw_data_t){b->user, type->layout, count};
    else
        b->data.at = b->temporary = sw_temporary(b->bytes);
}

void sw_buffer_send(sw_buffer_t *b, const void *user, int64_t count,
                    const sw_datatype_t *type, MPI_Comm comm)
{
    describe(b, user, count, type, comm);
    if (b->temporary)
        sw_pack(user, count, type, b->data.at, comm);
}

void sw_buffer_copy(sw_buffer_t *b, const void *user, int64_t count,
                    const sw_datatype_t *type, MPI_Comm comm)
{
    *b = (sw_buffer_t){.bytes = (size_t)count * type->size};
    b->data.at = b->temporary = sw_temporary(b->bytes);
    sw_pack(user, count, type, b->data.at, comm);
}

void sw_buffer_receive(sw_buffer_t *b, void *user, int64_t count,
                       const sw_datatype_t *type, MPI_Comm comm)
{
    describe(b, user, count, type, comm);
}

void sw_buffer_received(sw_buffer_t *b)
{
    if (b->temporary)
        sw_unpack(b->temporary, b->user, b->count, b->type, b->comm);
    sw_buffer_end(b);
}

void sw_buffer_end(sw_buffer_t *b)
{
    if (b->temporary)
        sw_temporary_free(b->temporary);
    b->temporary = NULL;
}
