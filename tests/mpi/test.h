/*
 * test.h - what the MPI test programs share: a generator of random numbers
 * that every rank can replay, and one way to fail.
 *
 * A random test is worth only as much as its failure can be repeated, so
 * nothing here asks the clock or the system: every draw comes from a key, and
 * two ranks with the same key draw the same numbers.
 */
#ifndef TEST_H
#define TEST_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The large-count procedures: MPI 4, which Open MPI 5.0 is not yet. */
#if MPI_VERSION >= 4 && (!defined(OMPI_MAJOR_VERSION) || OMPI_MAJOR_VERSION > 5)
#define HAVE_LARGE_COUNT 1
#else
#define HAVE_LARGE_COUNT 0
#endif

/* Persistent collectives: Open MPI has them from 5.0 on. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAVE_PERSISTENT 1
#else
#define HAVE_PERSISTENT 0
#endif

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static int world_rank, world_size;

/* A good 64-bit mix (the finalizer of a splitmix generator). */
static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t key2(uint64_t a, uint64_t b)
{
    return mix(a ^ mix(b));
}

typedef struct {
    uint64_t state;
} rng_t;

static inline rng_t rng_from(uint64_t key)
{
    return (rng_t){mix(key)};
}

static inline uint64_t rng_next(rng_t *r)
{
    r->state += 0x9e3779b97f4a7c15u;
    return mix(r->state);
}

/* 0 .. n-1 */
static inline size_t rng_below(rng_t *r, size_t n)
{
    return n ? rng_next(r) % n : 0;
}

static inline bool rng_one_in(rng_t *r, size_t n)
{
    return rng_below(r, n) == 0;
}

/* 0 .. max, as likely to have one digit as another; and often a power of two
 * or one beside it, where implementations switch from one way to another. */
static inline size_t rng_size(rng_t *r, size_t max)
{
    if (!max)
        return 0;
    int bits = 64 - __builtin_clzll(max);
    size_t top = (size_t)1 << rng_below(r, (size_t)bits + 1);
    size_t n = rng_one_in(r, 3) ? top - 1 + rng_below(r, 3)
                                : top / 2 + rng_below(r, top);
    return n > max ? rng_below(r, max + 1) : n;
}

/* Bytes that follow from a key, and the first of n that does not (n: none). */
static inline void fill_from(char *p, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = mix(key + i / 8);
        if (n - i >= 8)
            memcpy(p + i, &word, 8);
        else
            memcpy(p + i, &word, n - i);
    }
}

static inline size_t wrong_from(const char *p, size_t n, uint64_t key)
{
    uint64_t there;
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        memcpy(&there, p + i, 8);
        if (there != mix(key + i / 8))
            break;
    }
    while (i < n && p[i] == (char)(mix(key + i / 8) >> (8 * (i % 8))))
        i++;
    return i;
}

/* Fail: say why, end the whole job. */
static void __attribute__((format(printf, 1, 2), noreturn, unused)) fail(
    const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "FAILED on rank %d of %d: %s\n", world_rank, world_size,
            text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

#define CHECK(condition, ...)  \
    do {                       \
        if (!(condition))      \
            fail(__VA_ARGS__); \
    } while (0)

/* TEST_THREADS in the environment: with MPI_THREAD_MULTIPLE, or what there is.
 */
static inline void test_start(int *argc, char ***argv)
{
    if (getenv("TEST_THREADS"))
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &(int){0});
    else
        MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

/* The end: rank 0 says that all went well; a run that says nothing failed. */
static inline void test_end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (world_rank == 0)
        printf("all is well\n");
}

/* The number that follows argv[i], or `otherwise` if there is none. */
static inline long argument(int argc, char **argv, int i, long otherwise)
{
    return i < argc ? strtol(argv[i], NULL, 0) : otherwise;
}

#endif
