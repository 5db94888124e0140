/*
 * Every heap entry point with boundary arguments, as a program calls them.
 * Run under the preloaded library; argv[1] "arena": big blocks must come from
 * it, which shows as a shared mapping around them in /proc/self/maps. "none":
 * there may be no arena.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                                      \
    ((what) ? (void)0                                                    \
            : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what), \
               exit(1)))

static volatile size_t huge = SIZE_MAX; /* hides it from the compiler */

static bool shared(const void *p)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long low, high;
        char mode[5];
        if (sscanf(line, "%lx-%lx %4s", &low, &high, mode) == 3 &&
            (uintptr_t)p >= low && (uintptr_t)p < high)
            found = mode[3] == 's' && strstr(line, "straightway");
    }
    if (maps)
        fclose(maps);
    return found;
}

static bool zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

static void fill(char *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(seed + i * 7);
}

static bool filled(const char *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != (char)(seed + i * 7))
            return false;
    return true;
}

static void errors(void)
{
    errno = 0;
    CHECK(!malloc(huge) && errno == ENOMEM);
    errno = 0;
    CHECK(!malloc(huge / 2) && errno == ENOMEM);
    errno = 0;
    CHECK(!calloc(huge / 2, 3) && errno == ENOMEM);
    errno = 0;
    char *p = malloc(100000);
    fill(p, 100000, 3);
    CHECK(!realloc(p, huge - 5000) && errno == ENOMEM);
    errno = 0;
    CHECK(!reallocarray(p, huge / 4, 8) && errno == ENOMEM);
    CHECK(filled(p, 100000, 3));
    free(p);
    errno = 0;
    CHECK(!pvalloc(huge - 10) && errno == ENOMEM);
    CHECK(!memalign(64, huge - 10));
    void *q = &p;
    errno = 55;
    CHECK(posix_memalign(&q, 3, 100000) == EINVAL && q == &p);
    CHECK(posix_memalign(&q, 4, 100000) == EINVAL);
    CHECK(posix_memalign(&q, 0, 100000) == EINVAL);
    CHECK(posix_memalign(&q, 64, huge - 10) == ENOMEM && q == &p);
    CHECK(errno == 55);
    CHECK(malloc_usable_size(NULL) == 0);
    free(NULL);
    CHECK(errno == 55);
}

static void all_sizes(bool arena)
{
    static const size_t sizes[] = {0,      1,       24,      4096,
                                   32767,  32768,   32769,   65536,
                                   131072, 1000000, 5 << 20, 40 << 20};
    for (int i = 0; i < 12; i++) {
        size_t n = sizes[i];
        char *p = malloc(n), *z = calloc(n, 1), *m = memalign(1 << 16, n);
        char *a = aligned_alloc(256, n), *v = valloc(n), *w = pvalloc(n), *x;
        CHECK(posix_memalign((void **)&x, 4096, n) == 0);
        CHECK(p && z && m && a && v && w && x);
        if (n <= 4 << 20) /* larger: where huge pages are better, libc's */
            CHECK(shared(p) == (arena && n >= 32768));
        CHECK(shared(z) == shared(p) && shared(a) == shared(p));
        CHECK((uintptr_t)p % 16 == 0 && (uintptr_t)m % (1 << 16) == 0);
        CHECK((uintptr_t)a % 256 == 0 && (uintptr_t)v % 4096 == 0);
        CHECK((uintptr_t)w % 4096 == 0 && (uintptr_t)x % 4096 == 0);
        CHECK(malloc_usable_size(w) >= ((n + 4095) & ~(size_t)4095));
        CHECK(zero(z, n));
        char *every[] = {p, z, m, a, v, w, x};
        for (int k = 0; k < 7; k++) {
            CHECK(malloc_usable_size(every[k]) >= n);
            fill(every[k], n, (unsigned)k);
        }
        for (int k = 0; k < 7; k++) {
            CHECK(filled(every[k], n, (unsigned)k));
            errno = 66;
            free(every[k]);
            CHECK(errno == 66);
        }
    }
}

/* C23's, which the libc at hand may lack. */
static void sized_frees(bool arena)
{
    void (*sized)(void *, size_t), (*aligned)(void *, size_t, size_t);
    *(void **)&sized = dlsym(RTLD_DEFAULT, "free_sized");
    *(void **)&aligned = dlsym(RTLD_DEFAULT, "free_aligned_sized");
    CHECK(sized && aligned);
    for (size_t n = 1; n < (48 << 20); n *= 3) {
        char *p = malloc(n), *q = calloc(n, 1), *r = realloc(NULL, n);
        char *a = aligned_alloc(4096, n), *b = memalign(64, n);
        CHECK(p && q && r && a && b);
        fill(p, n, 1);
        errno = 66;
        sized(p, n);
        sized(q, n);
        sized(r, n);
        aligned(a, 4096, n);
        aligned(b, 64, n);
        CHECK(errno == 66);
        /* It is freed: the same block comes again. */
        p = malloc(n);
        sized(p, n);
        q = malloc(n);
        if (arena && n >= 32768 && n < (4 << 20))
            CHECK((uintptr_t)p / 4096 == (uintptr_t)q / 4096);
        free(q);
    }
    sized(NULL, 0);
    aligned(NULL, 64, 0);
}

static void realloc_both_ways(bool arena)
{
    static const size_t steps[] = {10,     40000,   100,     33000,
                                   20000,  1 << 20, 9 << 20, 48 << 20,
                                   200000, 31000,   5};
    char *p = NULL;
    size_t have = 0;
    for (int i = 0; i < 11; i++) {
        p = realloc(p, steps[i]);
        CHECK(p && filled(p, have < steps[i] ? have : steps[i], 9));
        have = steps[i];
        fill(p, have, 9);
        if (arena && have >= 40000 && have <= (4 << 20))
            CHECK(shared(p));
    }
    CHECK(!shared(p));
    CHECK(!realloc(p, 0));
    p = NULL;
    for (size_t n = 1000; n < (64 << 20); n += n / 3) {
        p = reallocarray(p, n, 1);
        CHECK(p);
        p[n - 1] = 1;
    }
    free(p);
    p = malloc(1 << 20);
    CHECK(!realloc(p, 0));
}

/* Blocks with a page of another protection are freed as they are, or resized.
 * Their memory is there for others then. */
static void protections(void)
{
    enum { BLOCKS = 24, PAGE = 4096 };
    const size_t n = (size_t)1 << 20;
    char *block[BLOCKS];
    for (int i = 0; i < 12; i++) {
        char *p = malloc(n), *page;
        fill(p, n, (unsigned)i);
        page = (char *)(((uintptr_t)p + 7 * n / 8) & -(uintptr_t)PAGE);
        int protection = i % 2 ? PROT_READ : PROT_NONE;
        if (i % 3 == 2)
            protection = PROT_READ;
        CHECK(mprotect(page, PAGE, protection) == 0);
        if (i % 3 == 1)
            p = realloc(p, n / 4);
        else if (i % 3 == 2)
            p = realloc(p, 5 * n);
        CHECK(filled(p, n / 4, (unsigned)i));
        free(p);
        for (int k = 0; k < BLOCKS; k++)
            fill(block[k] = malloc(k % 3 ? n : 5 * n), n, (unsigned)k);
        for (int k = 0; k < BLOCKS; k++) {
            CHECK(filled(block[k], n, (unsigned)k));
            free(block[k]);
        }
    }
}

static void fork_and_exec(void)
{
    char *p = malloc(3 << 20);
    fill(p, 3 << 20, 1);
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(filled(p, 3 << 20, 1));
        memset(p, 0, 3 << 20);
        free(p);
        p = calloc(1, 3 << 20);
        CHECK(zero(p, 3 << 20));
        exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(filled(p, 3 << 20, 1));
    CHECK(system("exit 7") == 7 << 8);
    free(p);
}

/* Globals: .data must keep its values, .bss its zeros, and with an MPI
 * library loaded both are in the arena's file. */
static char initialised[300000] = {1, 2, 3};
static char zeroed[500000];
static char sparse[1u << 30];

static void statics(bool moved)
{
    CHECK(initialised[0] == 1 && initialised[2] == 3);
    CHECK(zero(initialised + 3, sizeof initialised - 3));
    CHECK(zero(zeroed, sizeof zeroed));
    CHECK(shared(initialised + 8192) == moved);
    CHECK(shared(zeroed + 8192) == moved);
    CHECK(shared(sparse + sizeof sparse - 1) == moved);
    sparse[sizeof sparse - 1] = 4;
    fill(zeroed, sizeof zeroed, 4);
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(filled(zeroed, sizeof zeroed, 4) && initialised[1] == 2);
        CHECK(sparse[sizeof sparse - 1] == 4 && sparse[1] == 0);
        memset(zeroed, 0, sizeof zeroed);
        memset(initialised, 0, sizeof initialised);
        exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(filled(zeroed, sizeof zeroed, 4) && initialised[1] == 2);
}

#ifdef TAKES_ADDRESSES
/* The linker makes both addresses entries of the program's own PLT, if the
 * program is not position-independent. */
static void addresses(bool arena)
{
    void *(*take)(size_t) = malloc;
    void (*give)(void *) = free;
    __asm__ volatile("" : "+r"(take), "+r"(give));
    void *p = take(1 << 20);
    CHECK(p && (!arena || shared(p)));
    give(p);
}
#endif

int main(int argc, char **argv)
{
    bool arena = argc > 1 && !strcmp(argv[1], "arena");
    bool moved = argc > 2 && !strcmp(argv[2], "moved");
#ifdef TAKES_ADDRESSES
    addresses(arena);
#endif
    statics(moved);
    errors();
    all_sizes(arena);
    sized_frees(arena);
    realloc_both_ways(arena);
    if (strcmp(argc > 1 ? argv[1] : "", "none"))
        protections();
    fork_and_exec();
    puts("ok");
    return 0;
}
