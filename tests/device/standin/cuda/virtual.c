/*
 * virtual.c - pieces of memory, mapped at addresses that were reserved before.
 */
#include "inside.h"

#include <sys/mman.h>

#define UNIT ((size_t)2 << 20)

/* The handle of a piece is a number. */
static file_t *piece[1024];
static uint64_t pieces;

EXPORTED int cuMemGetAllocationGranularity(size_t *bytes, const allocation_t *a,
                                           int option)
{
    CALL(DRIVER);
    *bytes = UNIT;
    return 0;
}

EXPORTED int cuMemCreate(uint64_t *handle, size_t bytes, const allocation_t *a,
                         uint64_t flags)
{
    CALL(CONTEXT | UNSAFE);
    if (!bytes || bytes % UNIT || a->location_type != 1)
        return INVALID_VALUE;
    if (pieces == sizeof piece / sizeof *piece ||
        !(piece[pieces] = file_make(bytes, false)))
        return OUT_OF_MEMORY;
    *handle = ++pieces;
    return 0;
}

EXPORTED int cuMemAddressReserve(at_t *at, size_t bytes, size_t alignment,
                                 at_t wish, uint64_t flags)
{
    CALL(DRIVER);
    if (!bytes || bytes % UNIT)
        return INVALID_VALUE;
    *at = file_reserve(bytes);
    return *at ? 0 : OUT_OF_MEMORY;
}

EXPORTED int cuMemMap(at_t at, size_t bytes, size_t offset, uint64_t handle,
                      uint64_t flags)
{
    CALL(CONTEXT);
    block_t *next;
    if (!handle || handle > pieces || offset || at % UNIT)
        return INVALID_VALUE;
    file_t *f = piece[handle - 1];
    block_above(at, &next);
    if (bytes != f->bytes || (next && next->at < at + bytes) ||
        mmap((void *)at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, f->fd, 0) ==
            MAP_FAILED)
        return INVALID_VALUE;
    block_t *b = block_add(VIRTUAL, at, bytes, f->alias, NULL,
                           context_current());
    if (!b)
        return OUT_OF_MEMORY;
    b->hidden = true;
    return 0;
}

EXPORTED int cuMemSetAccess(at_t at, size_t bytes, const access_t *a, size_t n)
{
    CALL(DRIVER);
    block_t *b = block_find(at);
    if (!b || b->kind != VIRTUAL || b->bytes != bytes || !n)
        return INVALID_VALUE;
    b->hidden = a->flags != 3;
    return 0;
}

EXPORTED int cuMemUnmap(at_t at, size_t bytes)
{
    CALL(DRIVER);
    block_t *b = block_find(at);
    if (!b || b->kind != VIRTUAL || b->at != at || b->bytes != bytes)
        return INVALID_VALUE;
    stream_await_all(b->context);
    block_free(b);
    return 0;
}
