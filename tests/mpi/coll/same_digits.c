/*
 * same_digits.c - reductions have the digits of recursive doubling,
 * ((0 + 1) + (2 + 3)): sums and products of random numbers, whose last bits
 * tell one order from another.
 *
 *   same_digits                  all reductions, in all forms, of all lengths
 *   same_digits alone N [sums]   Allreduce of up to N elements: is it so alone,
 *                                too? Of sums only, if need be.
 *
 * The program computes the tree itself, by its definition, from the numbers of
 * all ranks. It also adds them one after the other, and that must differ.
 */
#include "mpi/test.h"

#include <complex.h>

enum { RANKS = 16, MOST = 70000 };

typedef struct {
    const char *name;
    MPI_Datatype type;
    size_t size;
    void (*draw)(void *to, rng_t *r);
    void (*combine)(bool product, void *z, const void *x, const void *y);
    bool (*equal)(const void *x, const void *y);
} kind_t;

static double number(rng_t *r)
{
    uint64_t bits = rng_next(r);
    return ((double)(bits >> 11) / (double)(1ull << 53) + .5) *
           (double)(1 << bits % 6);
}

/* Padding is not compared. */
#define KIND(name, T, draw)                                          \
    static void draw_##name(void *to, rng_t *r)                      \
    {                                                                \
        *(T *)to = draw;                                             \
    }                                                                \
    static void combine_##name(bool product, void *z, const void *x, \
                               const void *y)                        \
    {                                                                \
        const T *a = x, *b = y;                                      \
        *(T *)z = product ? *a * *b : *a + *b;                       \
    }                                                                \
    static bool equal_##name(const void *x, const void *y)           \
    {                                                                \
        return *(const T *)x == *(const T *)y;                       \
    }

KIND(float, float, (float)number(r))
KIND(double, double, number(r))
KIND(long_double, long double, (long double)number(r) / 3)
KIND(complex_float, _Complex float, (float)number(r) + I * (float)number(r))
KIND(complex_double, _Complex double, number(r) + I * number(r))

static kind_t kinds[5];

static void name_kinds(void)
{
#define NAME(i, name, T, type)                                  \
    kinds[i] = (kind_t){#name,       type,           sizeof(T), \
                        draw_##name, combine_##name, equal_##name};
    NAME(0, float, float, MPI_FLOAT)
    NAME(1, double, double, MPI_DOUBLE)
    NAME(2, long_double, long double, MPI_LONG_DOUBLE)
    NAME(3, complex_float, _Complex float, MPI_C_FLOAT_COMPLEX)
    NAME(4, complex_double, _Complex double, MPI_C_DOUBLE_COMPLEX)
}

static char *numbers[RANKS], *want, *in, *out;
static const kind_t *kind;
static bool product;

static void fold(char *z, const char *x, const char *y)
{
    kind->combine(product, z, x, y);
}

/* Element i of the tree over `items` items, of which the first are pairs. */
static void tree(int pairs, int first, int items, size_t i, char *z)
{
    _Alignas(16) char x[32], y[32];
    size_t size = kind->size, at = i * size;
    if (items > 1) {
        tree(pairs, first, items / 2, i, x);
        tree(pairs, first + items / 2, items / 2, i, y);
        fold(z, x, y);
    } else if (first < pairs) {
        fold(z, numbers[2 * first] + at, numbers[2 * first + 1] + at);
    } else {
        memcpy(z, numbers[first + pairs] + at, size);
    }
}

static bool line_differs(size_t i)
{
    _Alignas(16) char z[32];
    size_t at = i * kind->size;
    memcpy(z, numbers[0] + at, kind->size);
    for (int k = 1; k < world_size; k++)
        fold(z, z, numbers[k] + at);
    return !kind->equal(z, want + at);
}

/* Draws `n` numbers of each rank, and combines them. */
static void prepare(size_t n)
{
    int items = 1;
    size_t differ = 0;
    while (2 * items <= world_size)
        items *= 2;
    for (int k = 0; k < world_size; k++) {
        rng_t r = rng_from(key2(n, (uint64_t)k));
        for (size_t i = 0; i < n; i++)
            kind->draw(numbers[k] + i * kind->size, &r);
    }
    for (size_t i = 0; i < n; i++) {
        tree(world_size - items, 0, items, i, want + i * kind->size);
        differ += line_differs(i);
    }
    CHECK(world_size < 4 || n < 500 || differ, "no order of these numbers "
                                               "differs from another");
}

static void expect(const char *what, size_t n, size_t start, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK(
            kind->equal(out + i * kind->size, want + (start + i) * kind->size),
            "%s: %s of %zu %s: element %zu is not that of recursive "
            "doubling",
            what, product ? "product" : "sum", n, kind->name, i);
}

static void ready(size_t n)
{
    memcpy(in, numbers[world_rank], n * kind->size);
    memset(out, 0, n * kind->size);
}

static void finish(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void check_allreduce(size_t n, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    ready(n);
    MPI_Allreduce(in, out, (int)n, kind->type, op, comm);
    expect("Allreduce", n, 0, n);
    memcpy(out, in, n * kind->size);
    MPI_Allreduce(MPI_IN_PLACE, out, (int)n, kind->type, op, comm);
    expect("Allreduce in place", n, 0, n);
    ready(n);
    MPI_Iallreduce(in, out, (int)n, kind->type, op, comm, &request);
    finish(&request);
    expect("Iallreduce", n, 0, n);
#if HAVE_PERSISTENT
    ready(n);
    MPI_Allreduce_init(in, out, (int)n, kind->type, op, comm, MPI_INFO_NULL,
                       &request);
    MPI_Start(&request);
    finish(&request);
    MPI_Request_free(&request);
    expect("Allreduce_init", n, 0, n);
#endif
}

static void check_reduce(size_t n, MPI_Op op, MPI_Comm comm, int root)
{
    MPI_Request request;
    ready(n);
    MPI_Reduce(in, out, (int)n, kind->type, op, root, comm);
    if (world_rank == root)
        expect("Reduce", n, 0, n);
    ready(n);
    MPI_Ireduce(in, out, (int)n, kind->type, op, root, comm, &request);
    finish(&request);
    if (world_rank == root)
        expect("Ireduce", n, 0, n);
}

/* `n` in all. */
static void check_scattered(size_t n, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    int each = (int)n / world_size, counts[RANKS];
    size_t start = (size_t)(each * world_rank);
    for (int k = 0; k < world_size; k++)
        counts[k] = each;
    ready(n);
    MPI_Reduce_scatter_block(in, out, each, kind->type, op, comm);
    expect("Reduce_scatter_block", n, start, (size_t)each);
    ready(n);
    MPI_Ireduce_scatter_block(in, out, each, kind->type, op, comm, &request);
    finish(&request);
    expect("Ireduce_scatter_block", n, start, (size_t)each);
    ready(n);
    MPI_Reduce_scatter(in, out, counts, kind->type, op, comm);
    expect("Reduce_scatter", n, start, (size_t)each);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    bool alone = argc > 2 && !strcmp(argv[1], "alone");
    size_t most = alone ? (size_t)atoi(argv[2]) : MOST;
    int ops = argc > 3 && !strcmp(argv[3], "sums") ? 1 : 2;
    CHECK(world_size <= RANKS, "at most %d ranks", RANKS);
    name_kinds();
    for (int k = 0; k < world_size; k++)
        numbers[k] = malloc(MOST * 32);
    want = malloc(MOST * 32);
    in = malloc(MOST * 32);
    out = malloc(MOST * 32);
    static const size_t sizes[] = {1, 2, 3, 17, 64, 500, 2000, 5000, MOST};
    for (size_t s = 0; s < LENGTH(sizes) && sizes[s] <= most; s++)
        for (size_t k = 0; k < LENGTH(kinds); k++)
            for (int p = 0; p < ops; p++) {
                size_t n = sizes[s];
                MPI_Op op = p ? MPI_PROD : MPI_SUM;
                MPI_Comm comm;
                if (n == MOST && (k != 1 || p))
                    continue; /* once is enough */
                kind = &kinds[k];
                product = p;
                prepare(n);
                if (alone) {
                    /* MPICH 5 takes another order from the fifth on. */
                    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
                    ready(n);
                    MPI_Allreduce(in, out, (int)n, kind->type, op, comm);
                    expect("the host's Allreduce", n, 0, n);
                    MPI_Comm_free(&comm);
                    continue;
                }
                check_allreduce(n, op, MPI_COMM_WORLD);
                for (int root = 0; root < world_size;
                     root += n > 64 ? world_size - 1 : 1)
                    check_reduce(n, op, MPI_COMM_WORLD, root);
                check_scattered(n, op, MPI_COMM_WORLD);
            }
    test_end();
}
