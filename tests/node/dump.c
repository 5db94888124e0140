/*
 * dump.c - core dumps hold the blocks in use. They hold nothing of the arena
 * beyond, of memory that was given back, or of the pool: the system would
 * allocate all of that only to write zeros.
 */
#include "node/arena/arena.h"
#include "node/os/os.h"
#include "node/segment.h"
#include "node/base/settings.h"

#include "must.h"
#include "smaps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static bool out(const void *p, size_t n)
{
    return left_out(p, n, NULL);
}

static void blocks_in_use(void)
{
    char *base = sw_arena.range[0].start;
    MUST(out(base, 1) && out(base + sw_arena.range[0].size - 1, 1));
    char *small = sw_arena_alloc(40000, 16), *p = sw_arena_alloc(3 * MIB, 16);
    MUST(small && p && !out(small, 40000) && !out(p, 3 * MIB));
    MUST(out(p + 8 * MIB, 1));
    MUST(sw_arena_resize(p, 30 * MIB) && !out(p, 30 * MIB));
    MUST(out(p + 34 * MIB, 1));
    sw_arena_free(p);
    p = sw_arena_alloc(100 * MIB, 8 * MIB);
    MUST(p && !out(p, 100 * MIB));
    sw_arena_free(p);
    sw_arena_free(small);
}

static void given_back(void)
{
    char *p = sw_arena_alloc(64 * MIB, 16), *q = sw_arena_alloc(40000, 16);
    memset(p, 1, 64 * MIB);
    sw_settings.arena_keep = 0;
    sw_arena_free(p);
    MUST(out(p + 4 * MIB, 1) && out(p + 60 * MIB, 1) && !out(q, 40000));
    char *r = sw_arena_calloc(20 * MIB), *s = sw_arena_alloc(30 * MIB, 16);
    MUST(r && s && !out(r, 20 * MIB) && !out(s, 30 * MIB));
    sw_arena_free(r);
    sw_arena_free(s);
    sw_arena_free(q);
}

/* Many pieces in and out alternately: the number of mappings is bounded, and
 * blocks in use stay in. */
static void many_pieces(void)
{
    enum { N = 3000 };
    static char *block[N];
    int before, after;
    left_out(NULL, 0, &before);
    for (int i = 0; i < N; i++)
        MUST(block[i] = sw_arena_alloc(4 * MIB, 2 * MIB));
    for (int i = 0; i < N; i += 2)
        sw_arena_free(block[i]);
    left_out(NULL, 0, &after);
    MUST(after > before + 100 && after < before + 1100);
    for (int i = 1; i < N; i += 100)
        MUST(!out(block[i], 4 * MIB));
    /* One long piece that is out, and blocks here and there in it. */
    for (int i = 1; i < N; i += 2)
        sw_arena_free(block[i]);
    for (int i = 0; i < N; i++)
        MUST(block[i] = sw_arena_alloc(i % 2 ? 2 * MIB : 40000, 4 * MIB));
    left_out(NULL, 0, &after);
    MUST(after < before + 1100);
    for (int i = 1; i < N; i += 100)
        MUST(!out(block[i], 2 * MIB) && !out(block[i - 1], 40000));
    for (int i = 0; i < N; i++)
        sw_arena_free(block[i]);
}

/* A forked child has private memory, which the system dumps where it was
 * touched. */
static void forked(void)
{
    char *p = sw_arena_alloc(10 * MIB, 16);
    memset(p, 1, MIB);
    close(sw_arena.fd); /* the child moves the mapping aside */
    pid_t pid = fork();
    if (pid == 0) {
        char *q = sw_arena_alloc(500 * MIB, 16);
        _exit(!q || out(p, 10 * MIB) || out(q, 500 * MIB) || p[MIB - 1] != 1);
    }
    int status;
    MUST(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void)
{
    if (!sw_os_heeds_advice()) {
        puts("not run: this system makes no core dump as it is advised");
        return 77;
    }
    sw_settings_load();
    sw_settings.arena_static = false;
    sw_settings.arena_size = (size_t)32 << 30;
    sw_arena_start();
    MUST(sw_arena.fd >= 0);
    blocks_in_use();
    given_back();
    many_pieces();
    const sw_segment_t *pool = sw_segment();
    MUST(pool && out(pool->base, 1) && out(pool->base + pool->span - 1, 1));
    forked();
    puts("ok");
    return 0;
}
