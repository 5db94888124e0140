/*
 * cg.c - conjugate gradients on a sparse matrix, the kind of kernel that NAS
 * CG stands for.
 *
 *   mpicc -O3 -o cg examples/kernels/cg.c -lm
 *   mpirun -n 2 ./cg [N [SOLVES [spoil]]]
 *
 * A symmetric matrix of order N has 13 entries in each row, scattered at
 * random. rows x columns of ranks divide it (as many columns as rows, or twice
 * as many). Rank (r, c) keeps block (r, c) and segment c of each vector. A
 * solve takes 25 steps from zero.
 *
 * Communication, per step: the ranks of a row add up their parts of A p. Each
 * calls MPI_Sendrecv with one partner after the other (log2 columns exchanges
 * of N / rows doubles). They transpose the sum into segments (one exchange of
 * N / columns doubles, with the rank across the diagonal). Two MPI_Allreduce of
 * one double compute the dot products.
 *
 * The right side comes from a known solution, without communication. The
 * program compares each solve with that solution in every element.
 *
 * N and the number of ranks are powers of two, N at least 4 * ranks. "spoil"
 * alters one received number: the check must notice.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRINGS 12
#define STEPS 25

static int n, rank, size, rows, columns, row, col, height, width;
static int *starts, *where; /* the block: compressed rows */
static double *values, *part, *come, communication;

static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
}

static double fraction(uint64_t seed) /* from 0 to 1 */
{
    return (double)(mix(seed * 0x9e3779b97f4a7c15ull + 1) >> 11) * 0x1p-53;
}

static void *need(size_t bytes)
{
    void *block = calloc(1, bytes);
    if (!block) {
        fprintf(stderr, "cg: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return block;
}

/* Makes the k-th pairing: a shuffle seats all indices, and neighbours are
 * partners. Both partners have an entry with the other, so the matrix is
 * symmetric. */
static void pair(int k, int *seats, int *partner)
{
    for (int i = 0; i < n; i++)
        seats[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(mix(mix((uint64_t)k + 1) + (uint64_t)i) %
                      (unsigned)(i + 1));
        int swap = seats[i];
        seats[i] = seats[j], seats[j] = swap;
    }
    for (int i = 0; i < n; i++)
        partner[seats[i]] = seats[i ^ 1];
}

static double entry(int k, int i, int j)
{
    int low = i < j ? i : j;
    return 2 * fraction((uint64_t)low * PAIRINGS + k) - 1;
}

static double solution(int i)
{
    return fraction((uint64_t)i + ((uint64_t)1 << 40)) - 0.5;
}

/* The rank's block, and its segment of the right side. The diagonal exceeds
 * what stands beside it: positive definite. */
static void build(double *right)
{
    int *seats = need(n * sizeof *seats);
    int *partner = need((size_t)n * PAIRINGS * sizeof *partner);
    double *diagonal = need(n * sizeof *diagonal);
    for (int k = 0; k < PAIRINGS; k++)
        pair(k, seats, partner + (size_t)k * n);
    for (int i = 0; i < n; i++) {
        diagonal[i] = 1;
        for (int k = 0; k < PAIRINGS; k++)
            diagonal[i] += fabs(entry(k, i, partner[(size_t)k * n + i]));
    }
    starts = need((height + 1) * sizeof *starts);
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        int used = 0;
        for (int i = 0; i < height; i++) {
            int mine = row * height + i;
            starts[i] = used;
            for (int k = -1; k < PAIRINGS; k++) {
                int j = k < 0 ? mine : partner[(size_t)k * n + mine];
                if (j / width != col)
                    continue;
                if (pass) {
                    where[used] = j % width;
                    values[used] = k < 0 ? diagonal[j] : entry(k, mine, j);
                }
                used++;
            }
        }
        starts[height] = used;
        if (!pass) {
            where = need(used * sizeof *where + 1);
            values = need(used * sizeof *values + 1);
        }
    }
    for (int i = 0; i < width; i++) {
        int mine = col * width + i;
        right[i] = diagonal[mine] * solution(mine);
        for (int k = 0; k < PAIRINGS; k++) {
            int j = partner[(size_t)k * n + mine];
            right[i] += entry(k, mine, j) * solution(j);
        }
    }
    free(seats), free(partner), free(diagonal);
}

static void swap_with(int partner, double *mine, double *theirs, int count)
{
    double before = MPI_Wtime();
    MPI_Sendrecv(mine, count, MPI_DOUBLE, partner, 0, theirs, count, MPI_DOUBLE,
                 partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    communication += MPI_Wtime() - before;
}

/* q = A p, both in segments. */
static void multiply(const double *p, double *q, int spoilt)
{
    for (int i = 0; i < height; i++) {
        double sum = 0;
        for (int e = starts[i]; e < starts[i + 1]; e++)
            sum += values[e] * p[where[e]];
        part[i] = sum;
    }
    for (int bit = 1; bit < columns; bit *= 2) {
        swap_with(row * columns + (col ^ bit), part, come, height);
        for (int i = 0; i < height; i++)
            part[i] += come[i];
    }
    part[height / 2] += spoilt;
    /* All of row r have block r. Segment c lies in block c * rows / columns;
     * the rank there that needs a part of mine is the one across. */
    int ratio = columns / rows;
    int across = col / ratio * columns + row * ratio + col % ratio;
    double *theirs = part + (size_t)(col % ratio) * width;
    if (across == rank)
        memcpy(q, theirs, width * sizeof *q);
    else
        swap_with(across, theirs, q, width);
}

/* Of two vectors in segments. A segment is there `rows` times: each rank
 * takes its share of it. */
static double dot(const double *a, const double *b)
{
    int share = width / rows;
    double sum = 0, all;
    for (int i = row * share; i < (row + 1) * share; i++)
        sum += a[i] * b[i];
    double before = MPI_Wtime();
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    communication += MPI_Wtime() - before;
    return all;
}

static int number(const char *text, int low, int high)
{
    char *end;
    long value = strtol(text, &end, 10);
    return *end || value < low || value > high ? -1 : (int)value;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = argc > 1 ? number(argv[1], 4, 1 << 26) : 1 << 17;
    int solves = argc > 2 ? number(argv[2], 1, 1000000) : 30;
    int spoil = argc > 3 && !strcmp(argv[3], "spoil");
    if (n < 4 || n & (n - 1) || size & (size - 1) || n / size < 4 ||
        solves < 1 || argc > 3 + spoil) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: cg [N [SOLVES [spoil]]], N a power of two "
                    "up to 2^26, ranks (%d) too, N at least 4 times as many\n",
                    size);
        MPI_Finalize();
        return 2;
    }
    for (rows = 1; 4 * rows * rows <= size;)
        rows *= 2;
    columns = size / rows;
    row = rank / columns, col = rank % columns;
    height = n / rows, width = n / columns;

    double *right = need(width * sizeof *right), *x = need(width * sizeof *x);
    double *r = need(width * sizeof *r), *p = need(width * sizeof *p);
    double *q = need(width * sizeof *q);
    part = need(height * sizeof *part), come = need(height * sizeof *come);
    build(right);

    long wrong = 0, all = 0;
    double first = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int solve = 1; solve <= solves; solve++) {
        memset(x, 0, width * sizeof *x);
        memcpy(r, right, width * sizeof *r);
        memcpy(p, right, width * sizeof *p);
        double rho = dot(r, r);
        for (int step = 1; step <= STEPS; step++) {
            multiply(p, q,
                     spoil && solve == solves && step == STEPS / 2 &&
                         rank == size - 1);
            double alpha = rho / dot(p, q), old = rho;
            for (int i = 0; i < width; i++) {
                x[i] += alpha * p[i];
                r[i] -= alpha * q[i];
            }
            rho = dot(r, r);
            for (int i = 0; i < width; i++)
                p[i] = r[i] + rho / old * p[i];
            if (step == 5)
                first = sqrt(rho);
        }
        for (int i = 0; i < width; i++)
            wrong += !(fabs(x[i] - solution(col * width + i)) < 1e-8);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed = MPI_Wtime() - start;

    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("cg: %d ranks, order %d, %.6f s, %s\n"
               "cg: %d iterations of %.3f us, communication %.6f s, "
               "result %.12e\n",
               size, n, elapsed, all ? "NOT VERIFIED" : "VERIFIED", solves,
               elapsed / solves * 1e6, communication, first);
    free(right), free(x), free(r), free(p), free(q);
    free(part), free(come), free(starts), free(where), free(values);
    MPI_Finalize();
    return all != 0;
}
