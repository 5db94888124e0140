/*
 * memory.c - memory of the device, of its pools, and managed memory.
 */
#include "inside.h"

static int give(at_t *at, kind_t kind, size_t bytes, context_t *c)
{
    if (!bytes)
        return INVALID_VALUE;
    block_t *b = block_allocate(kind, bytes, c);
    if (!b)
        return OUT_OF_MEMORY;
    *at = b->at;
    return 0;
}

/* A block of these kinds that begins at an address. */
static block_t *begins(at_t at, unsigned kinds)
{
    block_t *b = block_find(at);
    return b && b->at == at && kinds >> b->kind & 1 ? b : NULL;
}

EXPORTED int cuMemAlloc_v2(at_t *at, size_t bytes)
{
    CALL(CONTEXT | UNSAFE);
    return give(at, OF_DEVICE, bytes, context_current());
}

EXPORTED int cuMemAllocManaged(at_t *at, size_t bytes, unsigned flags)
{
    CALL(CONTEXT | UNSAFE);
    if (flags != 1 && flags != 2)
        return INVALID_VALUE;
    return give(at, MANAGED, bytes, context_current());
}

/* Whatever is under way in the context ends first. */
EXPORTED int cuMemFree_v2(at_t at)
{
    CALL(CONTEXT | UNSAFE);
    unsigned kinds = 1u << OF_DEVICE | 1u << OF_POOL | 1u << MANAGED;
    block_t *b = begins(at, kinds);
    if (!b)
        return INVALID_VALUE;
    stream_await_all(b->context);
    if (!b->live)
        return INVALID_VALUE;
    block_free(b);
    return 0;
}

/* Pools ------------------------------------------------------------------ */

/* Any stream may use the memory at once: that is more than CUDA says. */
EXPORTED int cuMemAllocAsync(at_t *at, size_t bytes, handle_t stream)
{
    CALL(DRIVER);
    stream_t *s;
    int code = stream_find(stream, &s);
    return code ? code : give(at, OF_POOL, bytes, s->context);
}

typedef struct {
    op_t op;
    at_t at;
} release_t;

static void release(op_t *op)
{
    call_lock();
    block_t *b = begins(((release_t *)op)->at, 1u << OF_POOL);
    if (b)
        block_free(b);
    else
        fault(op->context, ILLEGAL_ADDRESS, "memory was freed twice, at %#llx",
              (unsigned long long)((release_t *)op)->at);
    call_unlock();
}

EXPORTED int cuMemFreeAsync(at_t at, handle_t stream)
{
    CALL(DRIVER);
    stream_t *s;
    int code = stream_find(stream, &s);
    if (code)
        return code;
    if (!begins(at, 1u << OF_POOL))
        return INVALID_VALUE;
    release_t *r = op_make(sizeof *r, release);
    if (!r)
        return OUT_OF_MEMORY;
    r->at = at;
    return stream_put(s, &r->op);
}
