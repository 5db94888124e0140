/*
 * vector.c - see vector.h.
 */
#include "vector.h"

static const sw_datatype_t *type_of(const sw_vbuffer_t *b, int i)
{
    return b->types[b->same ? 0 : i];
}

const sw_datatype_t sw_nothing = {.dense = true};

bool sw_types_of(const MPI_Datatype types[], sw_vector_t counts, int n,
                 MPI_Comm comm, const sw_datatype_t **to, int *result)
{
    if (!types && n)
        return false;
    for (int i = 0; i < n; i++) {
        to[i] = sw_at(counts, i) ? sw_datatype(types[i], comm, result)
                                 : &sw_nothing;
        if (!to[i])
            return false;
    }
    return true;
}

size_t sw_vbuffer_bytes(const sw_vbuffer_t *b, int i)
{
    return (size_t)sw_at(b->counts, i) * type_of(b, i)->size;
}

static void *block_of(const sw_vbuffer_t *b, int i)
{
    int64_t d = b->displacements.at ? sw_at(b->displacements, i) : 0;
    if (b->bytes)
        return (void *)((intptr_t)b->user + d);
    return sw_element(b->user, d, type_of(b, i));
}

/* Blocks of one dense type, in place: the common case, without a look at the
 * description for each. */
static void describe_here(sw_vbuffer_t *b, sw_extent_t *list)
{
    size_t size = b->types[0]->size;
    int64_t step = b->bytes ? 1 : b->types[0]->extent;
    for (int i = 0; i < b->n; i++) {
        size_t bytes = (size_t)sw_at(b->counts, i) * size;
        list[i] = (sw_extent_t){
            bytes ? sw_at(b->displacements, i) * step : 0, bytes};
    }
    b->temporary = NULL;
    b->data = b->user;
}

static bool all_dense(const sw_vbuffer_t *b)
{
    for (int i = 0; i < (b->same ? 1 : b->n); i++)
        if (!b->types[i]->dense && (b->same || sw_at(b->counts, i)))
            return false;
    return true;
}

static void describe(sw_vbuffer_t *b, bool packed, sw_extent_t *list)
{
    if (b->same && !packed && b->types[0]->dense) {
        describe_here(b, list);
        return;
    }
    size_t total = 0;
    bool here = !packed && all_dense(b);
    for (int i = 0; i < b->n; i++) {
        size_t size = sw_vbuffer_bytes(b, i);
        int64_t at = here && size ? (char *)block_of(b, i) - (char *)b->user
                                  : (int64_t)total;
        list[i] = (sw_extent_t){at, size};
        total += size;
    }
    b->temporary = here ? NULL : sw_temporary(total);
    b->data = here ? b->user : b->temporary;
}

void sw_vbuffer_send(sw_vbuffer_t *b, bool packed, sw_extent_t *list)
{
    describe(b, packed, list);
    for (int i = 0; i < b->n && b->temporary; i++)
        if (list[i].bytes)
            sw_pack(block_of(b, i), sw_at(b->counts, i), type_of(b, i),
                    b->data + list[i].offset, b->comm);
}

void sw_vbuffer_receive(sw_vbuffer_t *b, sw_extent_t *list)
{
    describe(b, false, list);
}

void sw_vbuffer_received(sw_vbuffer_t *b)
{
    size_t at = 0;
    for (int i = 0; i < b->n && b->temporary; i++) {
        size_t size = sw_vbuffer_bytes(b, i);
        if (size)
            sw_unpack(b->data + at, block_of(b, i), sw_at(b->counts, i),
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

int sw_vbuffer_take(const sw_vbuffer_t *b, int i, const sw_source_t *from,
                    size_t n)
{
    const sw_datatype_t *type = type_of(b, i);
    void *to = block_of(b, i);
    if (type->dense || n == 0)
        return sw_source_copy(from, 0, to, n);
    int64_t count = (int64_t)(n / type->size);
    if (from->at) {
        sw_unpack(from->at, to, count, type, b->comm);
        return SW_OK;
    }
    char *data = sw_temporary(n);
    int rc = sw_source_copy(from, 0, data, n);
    if (!rc)
        sw_unpack(data, to, count, type, b->comm);
    sw_temporary_free(data);
    return rc;
}
