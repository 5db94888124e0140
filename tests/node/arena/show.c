/*
 * show.c - memory that is shown to peers: they see what the owner has, and the
 * owner what they have written; what lies beside a buffer stays the program's;
 * what the system refuses costs nothing but speed.
 *
 * The peer is a second mapping of the arena's file.
 */
#include "node/base/settings.h"
#include "node/arena/show.h"

#include "must.h"
#include "rounds.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* The thread sanitizer takes a mapping for a write to all of its bytes. That
 * they stay what they were is what the reader's checks are for. */
#define READERS (!THREAD_SANITIZED)

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static char *peer;

static void fill(char *p, size_t n, unsigned key)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)((i ^ i >> 8) * 31 + key);
}

static bool filled(const char *p, size_t n, unsigned key)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != (char)((i ^ i >> 8) * 31 + key))
            return false;
    return true;
}

/* Show, and let the peer see. */
static char *shown(char *p, size_t n)
{
    uint64_t offset = sw_show(p, n);
    if (offset == UINT64_MAX)
        return NULL;
    sw_show_stage(p, n);
    return peer + offset;
}

static size_t shown_bytes(void)
{
    sw_show_stats_t stats;
    sw_show_stats(&stats);
    return stats.shown;
}

/* A block after all free ones were given back to the system; too large for a
 * thread's cache. */
static char *not_shown_before(size_t bytes)
{
    size_t keep = sw_settings.arena_keep;
    sw_settings.arena_keep = 0;
    sw_arena_free(sw_arena_alloc(16 * MIB, 4096));
    sw_settings.arena_keep = keep;
    return sw_arena_alloc(bytes, 4096);
}

static void a_whole_block(size_t n, size_t align)
{
    char *p = sw_arena_alloc(n, align);
    fill(p, n, 1);
    char *there = shown(p, n);
    MUST(there && filled(there, n, 1) && filled(p, n, 1));
    fill(p, n, 2); /* no page is the owner's alone */
    MUST(filled(there, n, 2));
    fill(there, n, 3);
    MUST(filled(p, n, 3));
    sw_arena_free(p);
}

/* The bytes before and behind [p, p+n) are the program's. */
static void a_part(char *block, size_t at, size_t n)
{
    char *p = block + at;
    p[-1] = 11;
    p[n] = 12;
    fill(p, n, 4);
    char *there = shown(p, n);
    MUST(there && filled(there, n, 4));
    fill(p, n, 5);
    sw_show_stage(p, n);
    MUST(filled(there, n, 5));
    fill(there, n, 6);
    sw_show_fetch(p, n);
    MUST(filled(p, n, 6) && p[-1] == 11 && p[n] == 12);
    /* Any part of it may be staged and fetched. */
    size_t from = n / 3, some = n / 2;
    memset(p + from, 7, some);
    sw_show_stage(p + from, some);
    MUST(!memcmp(there, p, n));
    memset(there + from, 8, some);
    sw_show_fetch(p + from, some);
    MUST(!memcmp(there, p, n));
}

static void parts(void)
{
    static const size_t ats[] = {1, 100, 4095, 4096, 5000};
    static const size_t sizes[] = {1,    64,   4000,  4096,
                                   8191, 8192, 12289, 100000};
    for (size_t i = 0; i < sizeof ats / sizeof *ats; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            char *block = sw_arena_alloc(200000, 4096);
            memset(block, 9, 200000);
            a_part(block, ats[i], sizes[k]);
            for (size_t j = 0; j < ats[i] - 1; j++)
                MUST(block[j] == 9);
            for (size_t j = ats[i] + sizes[k] + 1; j < 200000; j++)
                MUST(block[j] == 9);
            sw_arena_free(block);
        }
}

/* Neighbours ------------------------------------------------------------- */

static _Atomic bool stop;

/* What a thread writes beside a buffer must never be lost. */
static void *count_beside(void *at)
{
    volatile uint64_t *word = at;
    uint64_t n = *word;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        MUST(*word == n);
        *word = ++n;
    }
    MUST(*word == n);
    return NULL;
}

/* A reader of a send buffer sees the same bytes throughout. */
static void *read_inside(void *at)
{
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        MUST(filled((char *)at + 8192, 4096, 0));
    return NULL;
}

static void threads_beside_a_buffer(void)
{
    enum { ROUNDS = 200, THREADS = 2 + READERS };
    void *(*const run[])(void *) = {count_beside, count_beside, read_inside};
    const size_t n = 64 * KIB;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread[3];
        size_t at = 8 + (size_t)(i % 509) * 8;
        char *block = sw_arena_alloc(n + 16 * KIB, 4096), *p = block + at;
        memset(block, 0, n + 16 * KIB);
        for (size_t page = 0; page < n; page += 4096)
            fill(p + page, 4096, 0);
        atomic_store(&stop, false);
        char *const at_work[] = {p - 8, p + n, p};
        for (int k = 0; k < THREADS; k++)
            MUST(!pthread_create(&thread[k], NULL, run[k], at_work[k]));
        char *there = shown(p, n);
        MUST(there && !memcmp(there, p, n));
        for (int k = 0; k < 3; k++) {
            sw_show_stage(p, n);
            sw_show_fetch(p, n);
        }
        atomic_store(&stop, true);
        for (int k = 0; k < THREADS; k++)
            pthread_join(thread[k], NULL);
        sw_arena_free(block);
    }
}

/* Another process, which reads what it has been shown, sees no change while the
 * owner shows more, frees it, and shows that again. */
static void a_peer_reads_while_more_is_shown(void)
{
    enum { ROUNDS = 100 };
    _Atomic bool *done = mmap(NULL, SW_PAGE, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *block = sw_arena_alloc(4 * MIB, 4096);
    fill(block + MIB, MIB, 7);
    char *there = shown(block + MIB, MIB);
    MUST(done != MAP_FAILED && there);
    pid_t pid = fork();
    if (pid == 0) {
        while (!atomic_load(done))
            MUST(filled(there, MIB, 7));
        _exit(0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = MIB + (size_t)i * 4096;
        char *more = sw_arena_alloc(n, 4096);
        fill(more, n, (unsigned)i);
        MUST(shown(more, n));
        if (i < 16)
            MUST(shown(block + 2 * MIB + (size_t)i * 64 * KIB, 64 * KIB));
        MUST(filled(block + MIB, MIB, 7));
        if (i % 3)
            MUST(sw_show_drop(more, n) && !*more);
        sw_arena_free(more);
    }
    atomic_store(done, true);
    int status;
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
    sw_arena_free(block);
    munmap((void *)done, SW_PAGE);
}

/* Ends ------------------------------------------------------------------- */

static void what_is_dropped_reads_as_zeros(void)
{
    char *p = sw_arena_alloc(MIB, 4096);
    fill(p, MIB, 1);
    char *there = shown(p, MIB);
    MUST(there);
    MUST(sw_show_drop(p + 8192, 16384));
    madvise(p + 8192, 16384, MADV_DONTNEED);
    MUST(filled(p, 8192, 1));
    for (size_t i = 8192; i < 8192 + 16384; i++)
        MUST(p[i] == 0);
    MUST(p[8192 + 16384] != 0 || p[8193 + 16384] != 0);
    memset(p, 5, MIB);
    there = shown(p, MIB);
    MUST(there && !memcmp(there, p, MIB));
    sw_arena_free(p);
}

static void frozen_pages_stay(void)
{
    char *p = not_shown_before(300 * MIB); /* no block lay here before */
    memset(p, 1, MIB);
    sw_show_freeze(p + 100 * KIB, 4 * KIB);
    MUST(sw_show(p, MIB) == UINT64_MAX);
    MUST(shown(p, 64 * KIB) && shown(p + 104 * KIB, 64 * KIB));
    sw_arena_free(p);
}

static bool nobody_writes(void)
{
    return true;
}

/* Peers reach all of it as the owner has it, or nothing is promised. A window
 * owns nothing: no other thread may be writing. */
static void a_window_is_reached_to_the_last_byte(void)
{
    char *p = sw_arena_alloc(300000, 64);
    char *q = not_shown_before(300 * MIB); /* stays allocated to the end */
    fill(p, 300000, 1);
    memset(q, 2, 300000);
    char *r = not_shown_before(310 * MIB);
    MUST(sw_show_whole(r, 300000) == UINT64_MAX);
    sw_arena_free(r);
    sw_show_quiet = nobody_writes;
    uint64_t whole = sw_show_whole(p, 300000);
    sw_show_quiet = NULL;
    MUST(whole != UINT64_MAX && filled(peer + whole, 300000, 1));
    p[0] = p[299999] = 77;
    MUST(peer[whole] == 77 && peer[whole + 299999] == 77);
    MUST(sw_show_whole(p + 5000, 100) == whole + 5000);
    char *page = p + (SW_PAGE - (uintptr_t)p % SW_PAGE);
    MUST(sw_show_drop(page, SW_PAGE) && page[5] == 0);
    page[5] = 6;
    MUST(peer[whole + (size_t)(page - p) + 5] == 6);
    /* Foreign bytes lie in the first page and in the last one. A message has
     * been there before, through the file's copies of these. */
    MUST(shown(q + 100, 100000));
    sw_show_quiet = nobody_writes;
    uint64_t part = sw_show_whole(q + 100, 100000);
    sw_show_quiet = NULL;
    MUST(part != UINT64_MAX);
    q[99] = 3;
    q[100] = q[100099] = 4;
    MUST(peer[part] == 4 && peer[part + 99999] == 4 && q[99] == 3);
    MUST(sw_show_whole(q + 200100, 1000) == UINT64_MAX);
    sw_arena_free(p);
    sw_arena_free(q);
}

static void freed_memory_is_nobodys(void)
{
    size_t before = shown_bytes();
    for (int i = 0; i < FEWER(60); i++) {
        char *p = sw_arena_alloc(32 * MIB, 64);
        memset(p, 1, 32 * MIB);
        if (i % 3 == 0)
            MUST(shown(p, 32 * MIB));
        sw_arena_free(p);
        char *z = sw_arena_calloc(48 * MIB);
        for (size_t at = 0; at < 48 * MIB; at += 512)
            MUST(z[at] == 0);
        sw_arena_free(z);
    }
    /* No more than what is kept. */
    MUST(shown_bytes() <= before + sw_settings.arena_keep + 32 * MIB);
}

/* A receive buffer that no process has touched: the owner makes its pages,
 * which then lie where it runs, before a peer can write there. */
static void the_owner_touches_first(void)
{
    char *p = not_shown_before(350 * MIB);
    size_t n = 3 * MIB + 100, from, to;
    uint64_t offset = sw_show(p + 1000, n);
    MUST(offset != UINT64_MAX);
    from = offset / SW_PAGE * SW_PAGE;
    size_t first = from, end = offset + n;
    to = end;
    MUST(sw_os_next_data(sw_arena.fd, &from, &to));
    MUST(from == first && to >= end);
    sw_arena_free(p);
}

static bool has_huge_pages(const void *p)
{
    char line[256];
    unsigned long at, end, kib, here = 0, huge = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    MUST(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &at, &end) == 2)
            here = at <= (uintptr_t)p && (uintptr_t)p < end;
        else if (here && sscanf(line, "ShmemPmdMapped: %lu", &kib) == 1)
            huge += kib;
    }
    fclose(file);
    return huge > 0;
}

/* Where the machine gives shared memory huge pages on request, or always. */
static void shown_pages_are_huge(void)
{
    const size_t n = 16 * MIB + 12345;
    char text[256] = "";
    sw_os_read_text("/sys/kernel/mm/transparent_hugepage/shmem_enabled", text,
                    sizeof text);
    char *p = not_shown_before(355 * MIB);
    fill(p + 777, n, 1);
    char *there = shown(p + 777, n);
    MUST(there && filled(there, n, 1) && filled(p + 777, n, 1));
    if (strstr(text, "[advise]") || strstr(text, "[always]"))
        MUST(has_huge_pages(p + 8 * MIB));
    else
        printf("shared memory has no huge pages here: %s", text);
    sw_arena_free(p);
}

static void a_child_has_its_own(void)
{
    char *p = sw_arena_alloc(MIB, 64), *q = sw_arena_alloc(MIB, 64);
    fill(p, MIB, 1);
    fill(q, MIB, 2);
    char *there = shown(p, MIB);
    MUST(there);
    pid_t pid = fork();
    if (pid == 0) {
        MUST(filled(p, MIB, 1) && filled(q, MIB, 2));
        memset(p, 3, MIB);
        memset(q, 3, MIB);
        MUST(sw_show(p, MIB) == UINT64_MAX);
        sw_arena_free(p);
        sw_arena_free(q);
        p = sw_arena_calloc(4 * MIB);
        MUST(p && p[0] == 0 && p[4 * MIB - 1] == 0);
        _exit(0);
    }
    int status;
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
    MUST(filled(p, MIB, 1) && filled(q, MIB, 2) && filled(there, MIB, 1));
    sw_arena_free(p);
    sw_arena_free(q);
}

/* A machine whose two nodes have 8 pages each, in turns; the nodes that were
 * preferred, one after another. */
static int preferred[64], preferences;
static char *placed_at;

static int fake_nodes_of(const void *p, size_t pages, int *node)
{
    size_t first = (size_t)((const char *)p - placed_at) / 4096;
    for (size_t i = 0; i < pages; i++)
        node[i] = (int)((first + i) / 8 % 2);
    return 0;
}

static int fake_prefer(int node)
{
    MUST(preferences < 64);
    preferred[preferences++] = node;
    return 0;
}

static void pages_stay_on_their_nodes(void)
{
    static const sw_placement_t fake = {fake_nodes_of, fake_prefer};
    const sw_placement_t *before = sw_show_placement;
    sw_show_stats_t at_first, now;
    char *p = placed_at = not_shown_before(2 * MIB);
    memset(p, 3, 64 * 4096);
    sw_show_placement = &fake;
    sw_show_stats(&at_first);
    char *there = shown(p, 64 * 4096);
    sw_show_stats(&now);
    sw_show_placement = before;
    MUST(there && !memcmp(there, p, 64 * 4096));
    MUST(now.bytes == at_first.bytes + 64 * 4096);
    MUST(preferences == 9 && preferred[8] == -1);
    for (int i = 0; i < 8; i++)
        MUST(preferred[i] == i % 2);
    sw_arena_free(p);
}

#if !SANITIZED /* sanitizers know nothing of other stacks */
/* A coroutine on a block of the heap, with a buffer among its frames. */
static ucontext_t outside, coroutine;

static bool nobody_else(void)
{
    return true;
}

static void __attribute__((noinline)) on_its_stack(int round)
{
    volatile char before[200], buffer[9000], behind[200];
    size_t at = (size_t)(round * 97 % 800), n = 8000;
    memset((char *)before, 1, sizeof before);
    memset((char *)behind, 2, sizeof behind);
    fill((char *)buffer + at, n, (unsigned)round);
    char *there = shown((char *)buffer + at, n);
    MUST(there && filled(there, n, (unsigned)round));
    for (size_t i = 0; i < sizeof before; i++)
        MUST(before[i] == 1 && behind[i] == 2);
    if (round % 7)
        on_its_stack(round + 1);
}

static void run_coroutine(void)
{
    for (int i = 1; i < 100; i += 3)
        on_its_stack(i);
}

static void a_stack_in_the_heap(void)
{
    char *stack = sw_arena_alloc(MIB, 64);
    sw_show_quiet = nobody_else;
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = MIB;
    coroutine.uc_link = &outside;
    makecontext(&coroutine, run_coroutine, 0);
    swapcontext(&outside, &coroutine);
    sw_show_quiet = NULL;
    sw_arena_free(stack);
}

/* A thread on a stack that is a block of the heap. Parent and child go on on it
 * at once, each on its own. `told`: sw_show_stack knows of it. */
static void *fork_on_this_stack(void *told)
{
    char here[20000];
    for (int i = 0; i < 20; i++) {
        fill(here, sizeof here, (unsigned)i);
        if (i % 4 == 3) /* some of it is shared by then */
            MUST(!shown(here + 4096, 8192) == !!told);
        pid_t pid = sw_arena_fork(fork);
        MUST(filled(here, sizeof here, (unsigned)i));
        if (pid == 0) {
            fill(here, sizeof here, 99);
            MUST(filled(here, sizeof here, 99));
            _exit(0);
        }
        int status;
        MUST(waitpid(pid, &status, 0) == pid && status == 0);
        MUST(filled(here, sizeof here, (unsigned)i));
    }
    return NULL;
}

static void run_on(char *stack, void *told)
{
    pthread_attr_t attributes;
    pthread_t thread;
    MUST(!pthread_attr_init(&attributes));
    MUST(!pthread_attr_setstack(&attributes, stack, 256 * KIB));
    MUST(!pthread_create(&thread, &attributes, fork_on_this_stack, told));
    MUST(!pthread_join(thread, NULL));
    pthread_attr_destroy(&attributes);
}

static void a_thread_on_the_heap(void)
{
    static char yes;
    char *stack = not_shown_before(2 * MIB);
    run_on(stack, NULL);
    sw_arena_free(stack);
    stack = sw_arena_alloc(MIB, 4096);
    for (int i = 0; i < 10; i++) {
        fill(stack, MIB, 3);
        MUST(i || shown(stack + 4096, MIB - 4096));
        sw_show_stack(stack + 100, 256 * KIB);
        MUST(filled(stack, MIB, 3));
        run_on(stack, &yes);
    }
    sw_arena_free(stack);
}
#endif

/* Price and limits -------------------------------------------------------- */

static void showing_is_paid_for(void)
{
    enum { AFTER = 16 };
    const size_t n = 256 * KIB;
    sw_show_stats_t before, now;
    sw_settings.show_after = AFTER;
    sw_show_stats(&before);
    char *p = not_shown_before(310 * MIB);
    memset(p, 1, n);
    int uses = 0;
    while (sw_show(p, n) == UINT64_MAX)
        MUST(++uses < 3 * AFTER);
    MUST(uses >= 1);
    sw_show_stats(&now);
    MUST((now.bytes - before.bytes) * AFTER <= (size_t)(uses + 1) * n);
    sw_arena_free(p);
    /* Buffers that are used once never are. */
    before = now;
    char *many = not_shown_before(320 * MIB);
    for (size_t at = 0; at < 320 * MIB; at += 64 * KIB)
        MUST(sw_show(many + at, 64 * KIB) == UINT64_MAX);
    sw_show_stats(&now);
    MUST(now.bytes == before.bytes);
    sw_arena_free(many);
    /* What is shown of a million that come and go, others have paid for:
     * these, and what was left from before. */
    uint64_t used = 0;
    for (size_t i = 0; i < (SANITIZED ? 50000 : 1000000); i++) {
        size_t size = (1 + i % 37) * 4096;
        char *one = sw_arena_alloc(size, 64);
        MUST(one);
        used += sw_show(one, size) == UINT64_MAX ? size : 0;
        sw_arena_free(one);
    }
    before = now;
    sw_show_stats(&now);
    MUST((now.bytes - before.bytes) * AFTER <= used + ((uint64_t)1 << 30));
    MUST(now.refused == before.refused);
    sw_settings.show_after = 0;
}

/* A buffer that costs more than unused credit may amount to is shown in the
 * end, although another is used between its uses. */
static void a_dear_buffer_is_shown(void)
{
    enum { AFTER = 4096 };
    sw_show_stats_t before, now;
    sw_settings.show_after = AFTER;
    sw_show_stats(&before);
    char *dear = not_shown_before(310 * MIB);
    char *other = not_shown_before(310 * MIB);
    uint64_t uses = 0;
    while (sw_show(dear, MIB) == UINT64_MAX) {
        (void)sw_show(other, 64 * KIB);
        MUST(++uses < 2 * AFTER);
    }
    sw_show_stats(&now);
    MUST((now.bytes - before.bytes) * AFTER <=
         (uses + 1) * (MIB + 64 * KIB) + ((uint64_t)1 << 30));
    sw_arena_free(dear);
    sw_arena_free(other);
    sw_settings.show_after = 0;
}

static void mappings_are_bounded(void)
{
    const size_t n = 400 * MIB;
    char *p = sw_arena_alloc(n, 4096);
    size_t runs = 0, refused = 0;
    for (size_t at = 0; at < n; at += 8192) {
        memset(p + at, 7, 4096);
        if (sw_show(p + at, 4096) == UINT64_MAX)
            refused++;
        else
            runs++;
    }
    /* 65,530 mappings are what a process may have by default. */
    MUST(runs > 1000 && refused > 1000 && runs < 50000);
    for (size_t at = 0; at < n; at += 8192)
        MUST(p[at] == 7 && p[at + 4095] == 7);
    sw_arena_free(p);
}

static blkcnt_t file_blocks(void)
{
    struct stat file;
    MUST(!fstat(sw_arena.fd, &file));
    return file.st_blocks;
}

/* One of the last tests, since a process goes on to hold its pages. */
static void held_pages_stay_in_the_file(void)
{
    char *p = sw_arena_alloc(96 * MIB, 4096);
    char *q = sw_arena_alloc_shared(96 * MIB, 64);
    memset(p, 1, 96 * MIB);
    memset(q, 1, 96 * MIB);
    MUST(shown(p, 96 * MIB));
    sw_show_hold();
    blkcnt_t before = file_blocks();
    MUST(sw_show_drop(p + 8192, 16384));
    madvise(p + 8192, 16384, MADV_DONTNEED);
    for (size_t i = 8192; i < 8192 + 16384; i++)
        MUST(p[i] == 0);
    MUST(shown(p, 96 * MIB) && !memcmp(shown(p, MIB), p, MIB));
    sw_arena_free(p);
    sw_arena_free(q);
    freed_memory_is_nobodys();
    MUST(file_blocks() >= before);
}

static void refused(const char *door)
{
    char *p = sw_arena_alloc(4 * MIB, 64);
    fill(p, 4 * MIB, 1);
    sw_show_stats_t before, now;
    sw_show_stats(&before);
    uint64_t offset = sw_show(p, 4 * MIB);
    sw_show_stats(&now);
    MUST(offset == UINT64_MAX && now.refused == before.refused + 1);
    MUST(now.shown == before.shown);
    MUST(filled(p, 4 * MIB, 1));
    fill(p, 4 * MIB, 2);
    MUST(filled(p, 4 * MIB, 2));
    sw_arena_free(p);
    printf("%s refused: ok\n", door);
}

static int with_refused(const char *self, const char *door)
{
    pid_t pid = fork();
    if (pid == 0) {
        setenv("STRAIGHTWAY_REFUSE", door, 1);
        execl(self, self, door, NULL);
        _exit(9);
    }
    int status;
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void with_one_thread(void)
{
    for (size_t n = 1; n < 3 * MIB; n = n * 3 + 1) {
        a_whole_block(n, 64);
        a_whole_block(n, 4096);
    }
    parts();
    what_is_dropped_reads_as_zeros();
    frozen_pages_stay();
    a_window_is_reached_to_the_last_byte();
    freed_memory_is_nobodys();
    the_owner_touches_first();
    shown_pages_are_huge();
    a_child_has_its_own();
#if !SANITIZED
    a_stack_in_the_heap();
    a_thread_on_the_heap();
#endif
    pages_stay_on_their_nodes();
    showing_is_paid_for();
    a_dear_buffer_is_shown();
    held_pages_stay_in_the_file();
    mappings_are_bounded();
}

int main(int argc, char **argv)
{
    sw_settings_load();
    sw_settings.show = "lazy";
    sw_settings.show_after = 0;
    sw_settings.arena_keep = SIZE_MAX;
    sw_settings.arena_size = (size_t)4 << 30;
    sw_arena_start();
    /* What all the machine's ranks keep is a part of its memory. */
    MUST(sw_settings.arena_keep <=
         sw_os_memory_total() / 16 / (size_t)sysconf(_SC_NPROCESSORS_ONLN));
    sw_settings.arena_keep = 64 * MIB;
    MUST(sw_arena.fd >= 0);
    if (argc > 1) {
        refused(argv[1]);
        return 0;
    }
    peer = sw_os_map_shared(NULL, sw_arena.span, sw_arena.fd, 0);
    MUST(peer);
    threads_beside_a_buffer();
    a_peer_reads_while_more_is_shown();
    if (!THREAD_SANITIZED)
        with_one_thread();
    MUST(with_refused("/proc/self/exe", "show") == 0);
    MUST(with_refused("/proc/self/exe", "share") == 0);
    puts("ok");
    return 0;
}
