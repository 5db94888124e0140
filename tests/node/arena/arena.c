/*
 * The arena's blocks: alignment, contents, sizes, reuse, zeroing, giving
 * back, and a second mapping of the file that sees what the owner wrote.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/arena/arena.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#define CHECK(what)                                                      \
    ((what) ? (void)0                                                    \
            : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what), \
               exit(1)))

static bool all(const char *p, size_t n, char value)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value)
            return false;
    return true;
}

/* Bytes of the arena's first 2 GiB that are in memory, shared or not. An
 * emulator of processors does not tell of memory without access: none. */
static size_t resident(void)
{
    if (!sw_os_heeds_advice())
        return 0;
    static unsigned char here[1 << 14];
    size_t pages = 0, all = sw_min(sw_arena.range[0].size, (size_t)2 << 30);
    for (size_t at = 0; at < all; at += sizeof here * SW_PAGE) {
        size_t n = sw_min(all - at, sizeof here * SW_PAGE);
        CHECK(mincore(sw_arena.range[0].start + at, n, here) == 0);
        for (size_t i = 0; i < n / SW_PAGE; i++)
            pages += here[i] & 1;
    }
    return pages * SW_PAGE;
}

static void sizes_and_alignments(void)
{
    static const size_t sizes[] = {
        0,       1,       63,      4095,    4096,
        4097,    28672,   32767,   32768,   65536,
        65537,   1 << 20, 3145729, 4 << 20, (4 << 20) + 1,
        33 << 20};
    enum { N = sizeof sizes / sizeof *sizes };
    for (size_t align = 1; align <= (8u << 20); align *= 2) {
        char *p[N];
        for (int i = 0; i < N; i++) {
            p[i] = sw_arena_alloc(sizes[i], align);
            CHECK(p[i]);
            CHECK((uintptr_t)p[i] % sw_max(align, 64) == 0);
            CHECK(sw_arena_is_block(p[i]));
            CHECK(sw_arena_usable(p[i]) >= sizes[i]);
            CHECK(sw_arena_offset(p[i], sizes[i]) ==
                  (uint64_t)(p[i] - sw_arena.range[0].start));
            if (sizes[i] <= 4097)
                memset(p[i], i + 1, sizes[i]);
        }
        for (int i = 0; i < N; i++) {
            if (sizes[i] <= 4097)
                CHECK(all(p[i], sizes[i], (char)(i + 1)));
            sw_arena_free(p[i]);
        }
    }
}

static void colours_differ(void)
{
    char *p[8];
    for (int i = 0; i < 8; i++)
        p[i] = sw_arena_alloc(1 << 20, 16);
    for (int i = 1; i < 8; i++)
        CHECK(((uintptr_t)p[i] & 4095) != ((uintptr_t)p[i - 1] & 4095));
    for (int i = 0; i < 8; i++)
        sw_arena_free(p[i]);
}

static void calloc_is_zero(void)
{
    static const size_t sizes[] = {32768, 1 << 20, 6 << 20, 40 << 20};
    for (int i = 0; i < 4; i++)
        for (int round = 0; round < 3; round++) {
            char *p = sw_arena_calloc(sizes[i]);
            CHECK(p && all(p, sizes[i], 0));
            memset(p, 0x5a, sw_arena_usable(p));
            sw_arena_free(p);
        }
}

static void calloc_touches_nothing_fresh(void)
{
    size_t before = resident();
    char *p = sw_arena_calloc(512 << 20);
    CHECK(p);
    CHECK(resident() < before + (64 << 20));
    CHECK(p[0] == 0 && p[(512 << 20) - 1] == 0);
    sw_arena_free(p);
}

static void resizing(void)
{
    char *p = sw_arena_alloc(8 << 20, 16);
    memset(p, 7, 8 << 20);
    CHECK(sw_arena_resize(p, 1 << 20)); /* shrinks in place */
    CHECK(sw_arena_usable(p) < (2 << 20));
    CHECK(all(p, 1 << 20, 7));
    CHECK(sw_arena_resize(p, 6 << 20)); /* into what it gave */
    CHECK(sw_arena_usable(p) >= (6 << 20) && all(p, 1 << 20, 7));
    char *q = sw_arena_alloc(64 << 20, 16);
    char *last = sw_arena_alloc(256 << 20, 16); /* likely at the top */
    CHECK(!sw_arena_resize(p, (size_t)1 << 62));
    sw_arena_free(q);
    sw_arena_free(last);
    sw_arena_free(p);
}

static void reuse_keeps_memory_bounded(void)
{
    for (int i = 0; i < 2000; i++) {
        char *p = sw_arena_alloc(3 << 20, 16), *q = sw_arena_alloc(99999, 16);
        p[0] = q[0] = 1;
        p[(3 << 20) - 1] = 1;
        sw_arena_free(p);
        sw_arena_free(q);
    }
    sw_arena_stats_t now;
    sw_arena_stats(&now);
    CHECK(now.in_use == 0);
    CHECK(now.reused > 3000);
}

static void freed_memory_is_given_back(void)
{
    sw_settings.arena_keep = 32 << 20;
    enum { N = 24 };
    char *p[N];
    for (int i = 0; i < N; i++) {
        p[i] = sw_arena_alloc(8 << 20, 16);
        memset(p[i], 1, 8 << 20);
    }
    CHECK(resident() >= (size_t)N * (8 << 20) || !sw_os_heeds_advice());
    for (int i = 0; i < N; i++)
        sw_arena_free(p[i]);
    sw_arena_stats_t now;
    sw_arena_stats(&now);
    CHECK(now.given_back > 0);
    CHECK(resident() <= (size_t)64 << 20);
    char *q = sw_arena_calloc(16 << 20);
    CHECK(all(q, 16 << 20, 0));
    sw_arena_free(q);
}

/* Of a stretch that is dirty in part, only that part is written. */
static void calloc_writes_only_what_is_dirty(void)
{
    enum { MIB = 1 << 20 };
    sw_settings.arena_keep = 0;
    char *p = sw_arena_alloc(96 * MIB, 16), *end = sw_arena_alloc(2 * MIB, 16);
    memset(p, 1, 96 * MIB);
    sw_arena_free(p);
    sw_settings.arena_keep = (size_t)1 << 30;
    char *low = sw_arena_alloc(4 * MIB, 16);
    CHECK(low >= p - SW_PAGE && low < p + SW_PAGE);
    memset(low, 1, 4 * MIB);
    sw_arena_free(low);
    size_t before = resident();
    char *q = sw_arena_calloc(90 * MIB);
    CHECK(q >= p - SW_PAGE && q < p + SW_PAGE);
    CHECK(resident() <= before + MIB);
    CHECK(all(q, 90 * MIB, 0));
    sw_arena_free(q);
    sw_arena_free(end);
}

/* Holes that fit no block are given back, where others take fresh memory. */
static void what_is_kept_adds_nothing_to_the_peak(void)
{
    enum { MIB = 1 << 20, N = 400 };
    static char *p[N], *q[N / 4];
    size_t keep = sw_settings.arena_keep;
    sw_settings.arena_keep = (size_t)1 << 40;
    for (int i = 0; i < N; i++) {
        p[i] = sw_arena_alloc(MIB + MIB / 2, 16);
        memset(p[i], 1, MIB + MIB / 2);
    }
    sw_arena_stats_t now;
    sw_arena_stats(&now);
    CHECK(now.in_use >= (size_t)N * (MIB + MIB / 2));
    size_t peak = now.in_use_peak;
    for (int i = 0; i < N; i += 2)
        sw_arena_free(p[i]);
    sw_arena_stats(&now);
    CHECK(now.kept >= (size_t)N / 2 * MIB); /* no more is needed: it stays */
    for (int i = 0; i < N / 4; i++) {
        q[i] = sw_arena_alloc(2 * MIB, 16);
        memset(q[i], 1, 2 * MIB);
        sw_arena_stats(&now);
        CHECK(now.in_use_peak == peak);
        CHECK(now.in_use + now.kept <= peak + 16 * MIB);
    }
    CHECK(resident() <= peak + 16 * MIB);
    for (int i = 0; i < N / 4; i++)
        sw_arena_free(q[i]);
    for (int i = 1; i < N; i += 2)
        sw_arena_free(p[i]);
    sw_settings.arena_keep = keep;
}

/* Holes of one step that do not fit the next one: what is given back is touched
 * anew a few times, and then no more. */
static void steps_end_in_keeping(void)
{
    enum { MIB = 1 << 20, N = 60, STEPS = 40 };
    static char *p[N], *between[2 * N], *q[N];
    sw_arena_stats_t now, before;
    int n = 0;
    for (int step = 0; step < STEPS; step++) {
        sw_arena_stats(&before);
        for (int i = 0; i < N; i++) {
            p[i] = sw_arena_alloc(MIB + MIB / 2, 16);
            memset(p[i], 1, MIB + MIB / 2);
            if (step == 0)
                between[n++] = sw_arena_alloc(40000, 16);
        }
        for (int i = 0; i < N; i++)
            sw_arena_free(p[i]);
        for (int i = 0; i < N * 3 / 4; i++) {
            q[i] = sw_arena_alloc(2 * MIB, 16);
            memset(q[i], 1, 2 * MIB);
            if (step == 0)
                between[n++] = sw_arena_alloc(40000, 16);
        }
        for (int i = 0; i < N * 3 / 4; i++)
            sw_arena_free(q[i]);
        sw_arena_stats(&now);
        CHECK(step < STEPS - 10 || now.given_back == before.given_back);
    }
    while (n)
        sw_arena_free(between[--n]);
}

static void exhaustion_is_no_crash(void)
{
    CHECK(!sw_arena_alloc(SIZE_MAX, 16));
    CHECK(!sw_arena_alloc(sw_arena.range[0].size + 1, 16));
    char *all_of_it = NULL;
    size_t size = sw_arena.range[0].size;
    while (!(all_of_it = sw_arena_alloc(size, 16)))
        size -= 16 << 20;
    CHECK(!sw_arena_alloc(size / 2, 16) || size < (64 << 20));
    sw_arena_free(all_of_it);
}

/* A peer: another process image that opens the file and maps all of it. */
static int peer(const char *fd_text, const char *offset_text)
{
    int fd = atoi(fd_text);
    struct stat file;
    if (fstat(fd, &file))
        return 2;
    char *map = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (map == MAP_FAILED)
        return 3;
    char *there = map + strtoull(offset_text, NULL, 10);
    if (strcmp(there, "from the owner"))
        return 4;
    strcpy(there, "from the peer");
    return 0;
}

static void peers_see_the_same_memory(const char *self)
{
    char *p = sw_arena_alloc_shared(1 << 20, 16);
    strcpy(p, "from the owner");
    char fd_text[16], offset[32];
    snprintf(offset, sizeof offset, "%llu",
             (unsigned long long)sw_arena_offset(p, 1 << 20));
    int fd = dup(sw_arena.fd); /* dup: survives the exec */
    snprintf(fd_text, sizeof fd_text, "%d", fd);
    pid_t pid = vfork();
    if (pid == 0) {
        execl(self, self, "peer", fd_text, offset, NULL);
        _exit(9);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(!strcmp(p, "from the peer"));
    close(fd);
    sw_arena_free(p);
}

/* In a process whose arena has seen nothing else. */
static void in_its_own_process(const char *what)
{
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/proc/self/exe", "arena", what, NULL);
        _exit(9);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "peer"))
        return peer(argv[2], argv[3]);
    sw_settings_load();
    sw_settings.arena_static = false;
    CHECK(!sw_arena_alloc(65536, 16)); /* no arena yet: libc's turn */
    sw_arena_start();
    if (argc == 2 && !strcmp(argv[1], "steps")) {
        steps_end_in_keeping();
        return 0;
    }
    CHECK(sw_arena.fd >= 0);
    CHECK((uintptr_t)sw_arena.range[0].start % (2 << 20) == 0);
    errno = 77;
    what_is_kept_adds_nothing_to_the_peak();
    sizes_and_alignments();
    colours_differ();
    calloc_is_zero();
    calloc_touches_nothing_fresh();
    resizing();
    reuse_keeps_memory_bounded();
    CHECK(errno == 77);
    in_its_own_process("steps");
    peers_see_the_same_memory("/proc/self/exe");
    freed_memory_is_given_back();
    calloc_writes_only_what_is_dirty();
    exhaustion_is_no_crash();
    puts("ok");
    return 0;
}
