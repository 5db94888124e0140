/*
 * pointer.c - what the driver says of an address.
 */
#include "inside.h"

enum {
    CONTEXT_OF = 1,
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    SYNCHRONOUS = 6,
    BUFFER_ID = 7,
    IS_MANAGED = 8,
    DEVICE_NUMBER = 9,
    IPC_CAPABLE = 10,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    IS_MAPPED = 13,
    HANDLE_TYPES = 14,
    POOL = 17
};

static bool is_host(const block_t *b)
{
    return b->kind == PINNED || b->kind == REGISTERED;
}

/* Bytes of an attribute's value. */
static size_t width(int attribute)
{
    switch (attribute) {
    case CONTEXT_OF:
    case DEVICE_POINTER:
    case HOST_POINTER:
    case BUFFER_ID:
    case RANGE_START:
    case RANGE_SIZE:
    case POOL: return 8;
    }
    return 4;
}

static int answer(const block_t *b, int attribute, at_t at, void *to)
{
    bool in_context = b->kind != OF_POOL && b->kind != VIRTUAL;
    uint64_t value = 0;
    switch (attribute) {
    case CONTEXT_OF: value = in_context ? (uintptr_t)b->context : 0; break;
    case MEMORY_TYPE: value = is_host(b) ? 1 : DEVICE_MEMORY; break;
    case DEVICE_POINTER: value = at; break;
    case HOST_POINTER:
        if (!is_host(b) && b->kind != MANAGED)
            return INVALID_VALUE;
        value = at;
        break;
    case SYNCHRONOUS: value = b->synchronous; break;
    case BUFFER_ID: value = b->id; break;
    case IS_MANAGED: value = b->kind == MANAGED; break;
    case DEVICE_NUMBER: value = (unsigned)b->device; break;
    case IPC_CAPABLE: value = b->kind == OF_DEVICE; break;
    case RANGE_START: value = b->at; break;
    case RANGE_SIZE: value = b->bytes; break;
    case IS_MAPPED: value = 1; break;
    case HANDLE_TYPES: value = b->kind == VIRTUAL; break;
    case POOL:
        value = b->kind == OF_POOL ? (uintptr_t)b->context->legacy : 0;
        break;
    default: return INVALID_VALUE;
    }
    memcpy(to, &value, width(attribute));
    return 0;
}

EXPORTED int cuPointerGetAttribute(void *value, int attribute, at_t at)
{
    CALL(DRIVER);
    const block_t *b = block_find(at);
    return b ? answer(b, attribute, at, value) : INVALID_VALUE;
}

/* Of what it does not know, the driver says 0. */
EXPORTED int cuPointerGetAttributes(unsigned n, int *attribute, void **value,
                                    at_t at)
{
    CALL(DRIVER);
    const block_t *b = block_find(at);
    for (unsigned i = 0; i < n; i++)
        if (!b || answer(b, attribute[i], at, value[i]) != 0)
            memset(value[i], 0, width(attribute[i]));
    return 0;
}

/* The one attribute that may be set. */
EXPORTED int cuPointerSetAttribute(const void *value, int attribute, at_t at)
{
    CALL(CONTEXT);
    block_t *b = block_find(at);
    if (attribute != SYNCHRONOUS || !b || b->kind == OF_POOL)
        return INVALID_VALUE;
    b->synchronous = *(const unsigned *)value;
    return 0;
}

EXPORTED int cuMemGetAddressRange_v2(at_t *base, size_t *bytes, at_t at)
{
    CALL(CONTEXT);
    const block_t *b = block_find(at);
    if (!b)
        return NOT_FOUND;
    if (base)
        *base = b->at;
    if (bytes)
        *bytes = b->bytes;
    return 0;
}
