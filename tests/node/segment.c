/*
 * segment.c - the pool of communicator blocks.
 *
 * Blocks never overlap and come zeroed. The pool reuses a block when the last
 * member has left it, and not before. Ten thousand communicators made and freed
 * take no more memory than the few that lived at once. A full pool says so and
 * recovers.
 */
#include "node/segment.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define fail(...)                                    \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), \
     fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

#define LIVE 40
#define ZERO 8192

typedef struct {
    uint64_t offset;
    size_t size;
    int members;
} held_t;

static uint64_t state = 88172645463325252u;

static size_t draw(size_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state % limit);
}

static sw_block_t *at(uint64_t offset)
{
    return (sw_block_t *)(sw_segment()->base + offset);
}

static void check_apart(const held_t *held, int count, const held_t *new)
{
    for (int i = 0; i < count; i++)
        if (new->offset < held[i].offset + held[i].size &&
            held[i].offset < new->offset + new->size)
            fail("blocks overlap");
    if (new->offset < SW_PAGE || new->offset % SW_PAGE ||
        new->offset + new->size > sw_segment()->span)
        fail("block at %#llx", (unsigned long long)new->offset);
}

static held_t take(void)
{
    static const size_t sizes[] = {20000, 150000, 600000, 8192};
    held_t h = {.size = sizes[draw(4)], .members = 2 + (int)draw(5)};
    h.offset = sw_segment_alloc(h.size, ZERO, h.members);
    if (!h.offset)
        fail("the pool is full with few blocks in it");
    const char *p = (const char *)at(h.offset);
    for (size_t i = sizeof(sw_block_t); i < ZERO; i++)
        if (p[i])
            fail("byte %zu of a new block is not zero", i);
    if (at(h.offset)->members != h.members || at(h.offset)->size < h.size)
        fail("a new block's head is wrong");
    memset((char *)p + sizeof(sw_block_t), 0x77, h.size - sizeof(sw_block_t));
    return h;
}

/* One member leaves. What the others still use must stay as it is, which
 * take() checks by writing all over what it gets, and this by looking. */
static bool leave(held_t *h)
{
    const unsigned char *p = (const unsigned char *)at(h->offset);
    for (size_t i = sizeof(sw_block_t); i < h->size; i += 97)
        if (p[i] != 0x77)
            fail("a block was reused with %d members in it", h->members);
    sw_segment_leave(at(h->offset));
    return --h->members == 0;
}

static void cycles(void)
{
    held_t held[LIVE];
    int count = 0;
    size_t now, peak, first = 0;
    struct stat st;
    for (int i = 0; i < 10000; i++) {
        while (count == LIVE || (count && draw(2))) {
            int k = (int)draw((size_t)count);
            if (leave(&held[k]))
                held[k] = held[--count];
        }
        held_t h = take();
        check_apart(held, count, &h);
        held[count++] = h;
        if (i == 2000 && fstat(sw_segment()->fd, &st) == 0)
            first = (size_t)st.st_blocks;
    }
    if (fstat(sw_segment()->fd, &st) || (size_t)st.st_blocks > 2 * first)
        fail("the segment has grown from %zu to %zu blocks", first,
             (size_t)st.st_blocks);
    while (count)
        if (leave(&held[count - 1]))
            count--;
    sw_segment_usage(&now, &peak);
    if (now != 0 || peak == 0 || peak > (size_t)LIVE * 700000)
        fail("usage: %zu now, %zu at most", now, peak);
}

static void full_and_back(void)
{
    static uint64_t offset[100000];
    size_t count = 0, now, peak;
    const size_t size = 1 << 20;
    while ((offset[count] = sw_segment_alloc(size, 128, 2)))
        if (++count == 100000)
            fail("a pool without end");
    if (count < sw_segment()->span / size - 2)
        fail("full after %zu blocks", count);
    sw_segment_usage(&now, &peak);
    if (now != count * size)
        fail("%zu bytes are in use, not %zu", now, count * size);
    sw_segment_leave(at(offset[5]));
    if (sw_segment_alloc(size, 128, 2))
        fail("a block with a member in it was given away");
    sw_segment_leave(at(offset[5]));
    uint64_t again = sw_segment_alloc(size, 128, 2);
    if (again != offset[5])
        fail("the block that was left is not reused");
    /* Neighbours together make room for a bigger one. */
    for (size_t i = 10; i < 14; i++) {
        sw_segment_leave(at(offset[i]));
        sw_segment_leave(at(offset[i]));
    }
    if (sw_segment_alloc(4 * size, 128, 2) != offset[10])
        fail("free neighbours were not joined");
    if (sw_segment_alloc(SIZE_MAX / 2, 128, 2))
        fail("a block greater than the pool");
}

/* A forked child has a segment of its own, and its parent's stays whole. */
static void forked(void)
{
    sw_token_t parents = sw_segment()->token;
    pid_t pid = fork();
    if (pid == 0) {
        const sw_segment_t *mine = sw_segment();
        if (!mine || memcmp(&mine->token, &parents, sizeof parents) == 0 ||
            !sw_segment_alloc(20000, 128, 2))
            _exit(1);
        _exit(0);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        fail("a forked child's segment");
    if (memcmp(sw_segment()->base, &parents, sizeof parents))
        fail("the child has written to its parent's segment");
}

static void refused(const char *door, bool hard)
{
    pid_t pid = fork();
    if (pid == 0) {
        sw_settings.refuse = door;
        _exit(!hard == !sw_segment() ||
              (hard && sw_segment_alloc(20000, 128, 2)));
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        fail("with %s refused", door);
}

int main(void)
{
    refused("memfd", true);
    refused("map", true);
    refused("cma,futex,huge,punch,topology,peerfd", false);
    sw_settings.pool_size = (size_t)256 << 20;
    cycles();
    full_and_back();
    forked();
}
