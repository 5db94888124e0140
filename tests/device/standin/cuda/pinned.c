/*
 * pinned.c - memory of the host that the device reaches: made or registered.
 */
#include "inside.h"

#include <errno.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)
/* MADV_POPULATE_READ and _WRITE, since Linux 5.14. */
enum { POPULATE_READ = 22, POPULATE_WRITE = 23 };

EXPORTED int cuMemHostAlloc(void **at, size_t bytes, unsigned flags)
{
    CALL(CONTEXT | UNSAFE);
    if (!bytes || flags > 7)
        return INVALID_VALUE;
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return OUT_OF_MEMORY;
    if (!block_add(PINNED, (uintptr_t)mapped, bytes, mapped, NULL,
                   context_current())) {
        munmap(mapped, bytes);
        return OUT_OF_MEMORY;
    }
    *at = mapped;
    return 0;
}

EXPORTED int cuMemFreeHost(void *at)
{
    CALL(CONTEXT | UNSAFE);
    block_t *b = block_find((uintptr_t)at);
    if (!b || b->kind != PINNED || b->at != (uintptr_t)at)
        return INVALID_VALUE;
    stream_await_all(b->context);
    if (!b->live)
        return INVALID_VALUE;
    block_free(b);
    return 0;
}

static bool populates(uintptr_t at, size_t bytes, int how)
{
    uintptr_t begin = at / PAGE * PAGE;
    size_t length = (at + bytes - begin + PAGE - 1) / PAGE * PAGE;
    int before = errno;
    bool does = madvise((void *)begin, length, how) == 0;
    errno = before;
    return does;
}

/* Pages that are not there, or of a read-only mapping that the program does not
 * call so, are refused. An older kernel cannot say, even of a page of ours. */
static bool usable(uintptr_t at, size_t bytes, unsigned flags)
{
    static char mine;
    int how = flags & REGISTER_READ_ONLY ? POPULATE_READ : POPULATE_WRITE;
    return populates(at, bytes, how) || !populates((uintptr_t)&mine, 1, how);
}

EXPORTED int cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags)
{
    CALL(CONTEXT | UNSAFE);
    block_t *next;
    if (!at || !bytes)
        return INVALID_VALUE;
    block_above((uintptr_t)at, &next);
    if (next && next->at < (uintptr_t)at + bytes)
        return REGISTERED_ALREADY;
    if (!usable((uintptr_t)at, bytes, flags))
        return INVALID_VALUE;
    return block_add(REGISTERED, (uintptr_t)at, bytes, at, NULL,
                     context_current())
               ? 0
               : OUT_OF_MEMORY;
}

EXPORTED int cuMemHostUnregister(void *at)
{
    CALL(CONTEXT | UNSAFE);
    block_t *b = block_find((uintptr_t)at);
    if (!b || b->kind != REGISTERED || b->at != (uintptr_t)at)
        return NOT_REGISTERED;
    stream_await_all(b->context);
    if (b->live)
        block_free(b);
    return 0;
}

EXPORTED int cuMemHostGetDevicePointer_v2(at_t *at, void *host, unsigned flags)
{
    CALL(CONTEXT);
    const block_t *b = block_find((uintptr_t)host);
    if (!b || (b->kind != PINNED && b->kind != REGISTERED))
        return INVALID_VALUE;
    *at = (uintptr_t)host;
    return 0;
}
