/*
 * vector.c - see vector.h.
 */
#include "vector.h"

#include "mpi/base/reach.h"

static const sw_datatype_t *type_of(const sw_vbuffer_t *b, int i)
{
    return b->types[b->same ? 0 : i];
}

const sw_datatype_t sw_nothing = {.dense = true};

bool sw_vector_types_of(const MPI_Datatype types[], sw_vector_t counts, int n,
                        MPI_Comm comm, const sw_datatype_t **to, int *result)
{
    if (!types && n)
        return false;
    for (int i = 0; i < n; i++) {
        to[i] = sw_counts_at(counts, i) ? sw_datatype(types[i], comm, result)
                                        : &sw_nothing;
        if (!to[i])
            return false;
    }
    return true;
}

void sw_vector_types_hold(const sw_datatype_t *const types[], int n)
{
    for (int i = 0; i < n; i++)
        if (types[i] != &sw_nothing)
            sw_datatype_hold(types[i]);
}

void sw_vector_types_drop(const sw_datatype_t *const types[], int n)
{
    for (int i = 0; i < n; i++)
        if (types[i] != &sw_nothing)
            sw_datatype_drop(types[i]);
}

static size_t bytes_of(const sw_vbuffer_t *b, int i)
{
    return (size_t)sw_counts_at(b->counts, i) * type_of(b, i)->size;
}

static void *block_of(const sw_vbuffer_t *b, int i)
{
    int64_t d = b->displacements.at ? sw_counts_at(b->displacements, i) : 0;
    if (b->bytes)
        return (void *)((intptr_t)b->user + d);
    return sw_buffer_element(b->user, d, type_of(b, i));
}

/* Blocks of one dense type, in place: the common case, without a look at the
 * description for each. */
static sw_blocks_t dense(sw_vbuffer_t *b, sw_extent_t *list)
{
    size_t size = b->types[0]->size;
    int64_t step = b->bytes ? 1 : b->types[0]->extent;
    for (int i = 0; i < b->n; i++) {
        size_t bytes = (size_t)sw_counts_at(b->counts, i) * size;
        list[i] = (sw_extent_t){
            bytes ? sw_counts_at(b->displacements, i) * step : 0, bytes};
    }
    b->data = b->user;
    return (sw_blocks_t){.list = list};
}

/* Blocks where they are, by their layouts if one has gaps. */
static sw_blocks_t here(sw_vbuffer_t *b, bool gaps, sw_extent_t *list,
                        sw_data_t *data)
{
    for (int i = 0; i < b->n; i++) {
        const sw_datatype_t *type = type_of(b, i);
        size_t size = bytes_of(b, i);
        char *at = size ? block_of(b, i) : NULL;
        list[i] = (sw_extent_t){size && !gaps ? at - (char *)b->user : 0, size};
        data[i] = (sw_data_t){at, type->dense ? NULL : type->layout,
                              sw_counts_at(b->counts, i)};
    }
    b->data = b->user;
    return (sw_blocks_t){.list = list, .data = gaps ? data : NULL};
}

/* Is one of the blocks out of the processor's reach? */
static bool away(const sw_vbuffer_t *b)
{
    for (int i = 0; sw_device_possible() && i < b->n; i++)
        if (sw_counts_at(b->counts, i) &&
            sw_out_of_reach(block_of(b, i), type_of(b, i))) {
            sw_reach_note(b->comm, !type_of(b, i)->dense);
            return true;
        }
    return false;
}

/* Blocks in temporary memory. */
static sw_blocks_t packed(sw_vbuffer_t *b, sw_extent_t *list)
{
    size_t total = 0;
    for (int i = 0; i < b->n; i++) {
        list[i] = (sw_extent_t){(int64_t)total, bytes_of(b, i)};
        total += list[i].bytes;
    }
    b->data = b->temporary = sw_temporary(total);
    return (sw_blocks_t){.list = list};
}

static sw_blocks_t describe(sw_vbuffer_t *b, bool pack, sw_extent_t *list,
                            sw_data_t *data)
{
    bool gaps = false, known = true;
    b->temporary = NULL;
    pack |= away(b);
    if (b->same && !pack && b->types[0]->dense)
        return dense(b, list);
    for (int i = 0; i < b->n; i++) {
        const sw_datatype_t *type = type_of(b, i);
        if (type->dense || !sw_counts_at(b->counts, i))
            continue;
        gaps = true;
        known &= type->layout != NULL;
    }
    return pack || !known ? packed(b, list) : here(b, gaps, list, data);
}

sw_blocks_t sw_vbuffer_send(sw_vbuffer_t *b, bool pack, sw_extent_t *list,
                            sw_data_t *data)
{
    sw_blocks_t blocks = describe(b, pack, list, data);
    for (int i = 0; i < b->n && b->temporary; i++)
        if (list[i].bytes)
            sw_pack(block_of(b, i), sw_counts_at(b->counts, i), type_of(b, i),
                    b->data + list[i].offset, b->comm);
    return blocks;
}

sw_blocks_t sw_vbuffer_receive(sw_vbuffer_t *b, sw_extent_t *list,
                               sw_data_t *data)
{
    return describe(b, false, list, data);
}

void sw_vbuffer_received(sw_vbuffer_t *b)
{
    size_t at = 0;
    for (int i = 0; i < b->n && b->temporary; i++) {
        size_t size = bytes_of(b, i);
        if (size)
            sw_unpack(b->data + at, block_of(b, i), sw_counts_at(b->counts, i),
                      type_of(b, i), b->comm);
        at += size;
    }
    sw_vbuffer_end(b);
}

void sw_vbuffer_end(sw_vbuffer_t *b)
{
    if (b->temporary)
        sw_temporary_free(b->temporary);
    b->temporary = NULL;
}
