/*
 * share.c - memory of one process, opened by another.
 *
 * A handle names the file by its process, its descriptor and its inode, and the
 * block in it. So handles of one block are equal, and one of a block that was
 * freed opens nothing, except where the block is open already.
 */
#include "inside.h"

#include <unistd.h>

typedef struct {
    int process, fd;
    uint64_t inode, offset, bytes, id, mark;
    int device;
} name_t;
_Static_assert(sizeof(name_t) <= sizeof(ipc_t), "a handle has 64 bytes");
#define MARK 0x7374616e64697063u

static file_t *opened;

EXPORTED int cuIpcGetMemHandle(ipc_t *handle, at_t at)
{
    CALL(CONTEXT);
    const block_t *b = block_find(at);
    if (!b || b->kind != OF_DEVICE)
        return INVALID_VALUE;
    const file_t *f = b->file;
    name_t name = {f->process, f->fd, f->inode, b->at - f->at,
                   b->bytes,   b->id, MARK,     b->device};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &name, sizeof name);
    return 0;
}

/* The block that a handle has opened before. */
static block_t *before(const ipc_t *handle)
{
    block_t *b;
    for (at_t at = 0;; at = b->at + b->bytes) {
        block_above(at, &b);
        if (!b || (b->kind == OPENED && b->opened &&
                   memcmp(&b->name, handle, sizeof *handle) == 0))
            return b;
    }
}

static file_t *file_of(const name_t *name)
{
    file_t *f = opened;
    while (f && (f->process != name->process || f->inode != name->inode))
        f = f->next;
    if (!f && (f = file_open(name->process, name->fd, name->inode))) {
        f->next = opened;
        opened = f;
    }
    return f;
}

void share_end(const file_t *f)
{
    file_t **at = &opened;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
}

EXPORTED int cuIpcOpenMemHandle_v2(at_t *at, ipc_t handle, unsigned flags)
{
    CALL(CONTEXT | UNSAFE);
    context_t *c = context_current();
    name_t name;
    memcpy(&name, &handle, sizeof name);
    if (name.mark != MARK || flags != 1)
        return INVALID_VALUE;
    if (name.process == getpid())
        return INVALID_CONTEXT;
    block_t *b = before(&handle);
    if (!b) {
        file_t *f = file_of(&name);
        if (!f)
            return INVALID_VALUE;
        if (!file_retired(f, name.offset))
            b = block_add(OPENED, f->at + name.offset, name.bytes,
                          f->alias + name.offset, f, c);
        if (!b) {
            if (!f->blocks) {
                share_end(f);
                file_end(f);
            }
            return INVALID_VALUE;
        }
        b->name = handle;
        b->device = name.device;
        c->near |= 1u << b->device;
    }
    b->opened++;
    *at = b->at;
    return 0;
}

EXPORTED int cuIpcCloseMemHandle(at_t at)
{
    CALL(CONTEXT | UNSAFE);
    block_t *b = block_find(at);
    if (!b || b->kind != OPENED || b->at != at)
        return INVALID_VALUE;
    stream_await_all(b->context);
    if (b->live && --b->opened == 0)
        block_free(b);
    return 0;
}
