/*
 * block.c - allocations: which block holds an address, and what became of it.
 *
 * Blocks up to 1 MiB share a file, as a driver's small ones share a page. The
 * records of freed blocks are kept, so that a fault can say what it met.
 */
#include "inside.h"

#include <sys/mman.h>

#define SMALL ((size_t)1 << 20)

static block_t **live; /* by address */
static size_t lives, room;
static block_t *dead;
static file_t *shared;    /* small blocks come from it */
static uint64_t id = 906; /* of the block made last */

block_t **block_above(at_t at, block_t **end)
{
    size_t low = 0, high = lives;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (live[middle]->at + live[middle]->bytes <= at)
            low = middle + 1;
        else
            high = middle;
    }
    *end = low < lives ? live[low] : NULL;
    return low ? live + low : live;
}

block_t *block_find(at_t at)
{
    block_t *b;
    block_above(at, &b);
    return b && b->at <= at ? b : NULL;
}

const char *block_lack(at_t at)
{
    for (const block_t *b = dead; b; b = b->next)
        if (at - b->at < b->bytes)
            return "memory that was freed";
    return "no allocation";
}

block_t *block_add(kind_t kind, at_t at, size_t bytes, char *alias,
                   file_t *file, context_t *c)
{
    block_t *b = calloc(1, sizeof *b), *next;
    if (lives == room) {
        size_t more = 2 * room + 16;
        block_t **wider = realloc(live, more * sizeof(block_t *));
        if (wider) {
            live = wider;
            room = more;
        }
    }
    if (!b || lives == room) {
        free(b);
        return NULL;
    }
    *b = (block_t){.kind = kind,
                   .at = at,
                   .bytes = bytes,
                   .alias = alias,
                   .file = file,
                   .context = c,
                   .device = c->device,
                   .id = ++id,
                   .live = true};
    size_t i = (size_t)(block_above(at, &next) - live);
    memmove(live + i + 1, live + i, (lives - i) * sizeof(block_t *));
    live[i] = b;
    lives++;
    if (file)
        file->blocks++;
    return b;
}

block_t *block_allocate(kind_t kind, size_t bytes, context_t *c)
{
    at_t at;
    file_t *f = NULL;
    bool small = bytes <= SMALL && kind != MANAGED;
    if (small && shared && file_cut(shared, bytes, &at)) {
        f = shared;
    } else {
        if (!(f = file_make(bytes, kind == MANAGED)))
            return NULL;
        file_cut(f, bytes, &at);
        if (small) {
            file_t *before = shared;
            shared = f;
            if (before && !before->blocks)
                file_end(before);
        }
    }
    return block_add(kind, at, bytes, f->alias + (at - f->at), f, c);
}

void block_free(block_t *b)
{
    block_t *next;
    size_t i = (size_t)(block_above(b->at, &next) - live);
    memmove(live + i, live + i + 1, (lives - i - 1) * sizeof(block_t *));
    lives--;
    b->live = false;
    b->next = dead;
    dead = b;
    if (b->kind == PINNED)
        munmap(b->alias, b->bytes);
    if (!b->file)
        return;
    if (b->kind != OPENED)
        file_retire(b->file, b->at - b->file->at);
    if (--b->file->blocks == 0 && b->file != shared) {
        if (b->kind == OPENED)
            share_end(b->file);
        file_end(b->file);
    }
}

void block_free_all(const context_t *c)
{
    for (size_t i = lives; i-- > 0;)
        if (live[i]->context == c)
            block_free(live[i]);
}
