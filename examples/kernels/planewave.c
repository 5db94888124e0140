/*
 * planewave.c - electrons in a uniform field, in plane waves: the pattern of a
 * plane-wave code such as CPMD.
 *
 *   mpicc -O3 -o planewave examples/kernels/planewave.c -lm
 *   mpirun -n 2 ./planewave [N [STATES [ITERATIONS [spoil]]]]
 *
 * Each state is N^3 coefficients of plane waves. A step multiplies them by
 * the phases of their kinetic energy, and takes the state to real space. It
 * lets the field act there (a phase again), and takes the state back. Then the
 * ranks compute the overlaps of all pairs of states, as orthonormalisation
 * needs them.
 *
 * Communication, per iteration: two MPI_Alltoall per state, each rank sending
 * each N^3 / ranks^2 complex numbers, and one MPI_Allreduce of STATES *
 * (STATES + 1) doubles. The share of communication depends on N, the ranks and
 * the network: at N = 16 on 16 nodes it is about that of the transforms.
 *
 * In a uniform field each plane wave moves on to the next, whatever its
 * coefficient. So a closed form gives the state after any number of steps, and
 * overlaps never change. The program checks the overlaps in each iteration, and
 * all coefficients at the end.
 *
 * N is a power of two, the number of ranks one that divides it. "spoil"
 * alters one received number: the check must notice.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN 1024 /* kinetic phases, in parts of a full turn */
#define PI 3.14159265358979323846
#define WAVE(i) ((i) < n / 2 ? (i) : (i) - n) /* index to wave number */

typedef struct {
    double re, im;
} complex_t;

static const int field[3] = {1, 2, 3}; /* wave numbers moved on per step */
static int n, rank, size, planes;      /* planes of the cube per rank */
static complex_t *roots;               /* n of them: exp(-2 pi i j / n) */
static complex_t *lines, *spare;       /* the lines being transformed */
static complex_t *slab, *blocks;       /* real space; what travels */
static double communication;

static complex_t times(complex_t a, complex_t b)
{
    return (complex_t){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static complex_t sum(complex_t a, complex_t b, double sign)
{
    return (complex_t){a.re + sign * b.re, a.im + sign * b.im};
}

static complex_t angle(double turns)
{
    return (complex_t){cos(2 * PI * turns), sin(2 * PI * turns)};
}

/* At random, but the same for all: a coefficient at the beginning. */
static complex_t coefficient(int state, int x, int y, int z)
{
    uint64_t h = ((((uint64_t)state * n + z) * n + y) * n + x + 1) *
                 0x9e3779b97f4a7c15ull;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    h ^= h >> 31;
    return (complex_t){(double)(h & 0xffffff) / 0x800000 - 1,
                       (double)(h >> 40) / 0x800000 - 1};
}

/* Transforms m interleaved sequences, lines[n][m], and returns where the
 * result is. Stockham's way: each pass reads one array and writes the other,
 * in an order that ends sorted. sign is 1 forward, -1 backward. */
static complex_t *transform(int m, double sign)
{
    complex_t *x = lines, *y = spare;
    for (int len = n, s = m; len > 1;) {
        int radix = len % 4 ? 2 : 4, part = len / radix, far = part * s;
        for (int p = 0; p < part; p++) {
            complex_t w1 = roots[p * (n / len)];
            complex_t w2 = roots[2 * p * (n / len) % n];
            complex_t w3 = roots[3 * p * (n / len) % n];
            w1.im *= sign, w2.im *= sign, w3.im *= sign;
            complex_t *from = x + (size_t)p * s;
            complex_t *to = y + (size_t)p * radix * s;
            for (int q = 0; radix == 2 && q < s; q++) {
                complex_t a = from[q], b = from[q + far];
                to[q] = sum(a, b, 1);
                to[q + s] = times(sum(a, b, -1), w1);
            }
            for (int q = 0; radix == 4 && q < s; q++) {
                complex_t a = from[q], b = from[q + far];
                complex_t c = from[q + 2 * far], d = from[q + 3 * far];
                complex_t ac = sum(a, c, 1), bd = sum(b, d, 1);
                complex_t less = sum(a, c, -1), turn = sum(b, d, -1);
                turn = (complex_t){-sign * turn.im, sign * turn.re};
                to[q] = sum(ac, bd, 1);
                to[q + s] = times(sum(less, turn, -1), w1);
                to[q + 2 * s] = times(sum(ac, bd, -1), w2);
                to[q + 3 * s] = times(sum(less, turn, 1), w3);
            }
        }
        complex_t *swap = x;
        x = y, y = swap;
        len /= radix, s *= radix;
    }
    return x;
}

/* Transforms m lines of `data`, whose numbers are `stride` apart, the lines
 * themselves `step`. */
static void along(complex_t *data, size_t stride, size_t step, int m,
                  double sign)
{
    for (int k = 0; k < n; k++)
        for (int j = 0; j < m; j++)
            lines[(size_t)k * m + j] = data[k * stride + j * step];
    complex_t *result = transform(m, sign);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < m; j++)
            data[k * stride + j * step] = result[(size_t)k * m + j];
}

/* The lines through my part of all planes, [z][y][my x]. */
static void across(complex_t *state, int m, double sign)
{
    for (int c = 0; c < planes * n; c += m)
        along(state + c, (size_t)planes * n, 1, m, sign);
}

/* In the slab, [my z][y][x]. */
static void inside(int m, double sign)
{
    for (int z = 0; z < planes; z++) {
        complex_t *plane = slab + (size_t)z * n * n;
        for (int y = 0; y < n; y += m)
            along(plane + (size_t)y * n, 1, n, m, sign);
        for (int x = 0; x < n; x += m)
            along(plane + x, n, 1, m, sign);
    }
}

/* Copies the slab into blocks [receiver][my z][y][x], or back. */
static void cut(int back)
{
    for (int d = 0; d < size; d++)
        for (int zy = 0; zy < planes * n; zy++) {
            complex_t *whole = slab + (size_t)zy * n + d * planes;
            complex_t *part = blocks + ((size_t)d * planes * n + zy) * planes;
            memcpy(back ? whole : part, back ? part : whole,
                   planes * sizeof *part);
        }
}

static void transpose(complex_t *from, complex_t *to)
{
    int count = 2 * planes * planes * n;
    double before = MPI_Wtime();
    MPI_Alltoall(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE,
                 MPI_COMM_WORLD);
    communication += MPI_Wtime() - before;
}

/* The sums over all ranks of conj(a) * b, for each pair of states. */
static void overlap(complex_t *all, int states, size_t cells, complex_t *part,
                    complex_t *sums)
{
    int pairs = 0;
    for (int s = 0; s < states; s++)
        for (int t = s; t < states; t++) {
            complex_t *a = all + s * cells, *b = all + t * cells;
            double re = 0, im = 0;
            for (size_t c = 0; c < cells; c++) {
                re += a[c].re * b[c].re + a[c].im * b[c].im;
                im += a[c].re * b[c].im - a[c].im * b[c].re;
            }
            part[pairs++] = (complex_t){re, im};
        }
    double before = MPI_Wtime();
    MPI_Allreduce(part, sums, 2 * pairs, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    communication += MPI_Wtime() - before;
}

static complex_t *need(size_t count)
{
    complex_t *block = calloc(count, sizeof *block);
    if (!block && fprintf(stderr, "planewave: out of memory\n"))
        MPI_Abort(MPI_COMM_WORLD, 1);
    return block;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = argc > 1 ? atoi(argv[1]) : 16;
    int states = argc > 2 ? atoi(argv[2]) : 8;
    int iterations = argc > 3 ? atoi(argv[3]) : 3000;
    int spoil = argc > 4 && !strcmp(argv[4], "spoil");
    if (n < 4 || n > 512 || n & (n - 1) || n < size || n % size || states < 1 ||
        states > 256 || iterations < 1 || argc > 4 + spoil) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: planewave [N [STATES [ITERATIONS "
                    "[spoil]]]], N a power of two from 4 to 512, a multiple "
                    "of the %d ranks, STATES at most 256\n",
                    size);
        MPI_Finalize();
        return 2;
    }
    planes = n / size;
    size_t cells = (size_t)planes * n * n;
    int m = n < 16 ? n : 16, pairs = states * (states + 1) / 2;
    complex_t *all = need(states * cells), *kick = need(n), *kinetic = need(n);
    complex_t *part = need(pairs), *sums = need(pairs), *before = need(pairs);
    roots = need(n), lines = need((size_t)n * m), spare = need((size_t)n * m);
    slab = need(cells), blocks = need(cells);
    for (int j = 0; j < n; j++) {
        roots[j] = angle(-(double)j / n);
        kick[j] = angle((double)j / n); /* and the scale of both */
        kick[j].re /= (double)n * n * n, kick[j].im /= (double)n * n * n;
        kinetic[j] = angle(-(double)(WAVE(j) * WAVE(j) % TURN) / TURN);
    }
/* The coefficients at hand, as v; where they lie: z, y, x. */
#define EACH(state)                                                         \
    for (int z = 0; z < n; z++)                                             \
        for (int y = 0; y < n; y++)                                         \
            for (int x = rank * planes, once = 1; once; once = 0)           \
                for (complex_t *v = (state) + ((size_t)z * n + y) * planes; \
                     x < (rank + 1) * planes; x++, v++)

    for (int s = 0; s < states; s++)
        EACH(all + s * cells)
            *v = coefficient(s, x, y, z);
    overlap(all, states, cells, part, before);

    long wrong = 0, bad = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    communication = 0;
    for (int step = 1; step <= iterations; step++) {
        for (int s = 0; s < states; s++) {
            complex_t *state = all + s * cells;
            EACH(state)
                *v = times(*v,
                           times(times(kinetic[z], kinetic[y]), kinetic[x]));
            across(state, m, -1);
            transpose(state, blocks);
            if (spoil && step == iterations && rank == size - 1 && !s)
                blocks[cells / 2].re += 1;
            cut(1);
            inside(m, -1);
            complex_t *u = slab;
            for (int z = rank * planes; z < (rank + 1) * planes; z++)
                for (int y = 0; y < n; y++)
                    for (int x = 0; x < n; x++, u++) {
                        int at = field[0] * x + field[1] * y + field[2] * z;
                        *u = times(*u, kick[at % n]);
                    }
            inside(m, 1);
            cut(0);
            transpose(blocks, state);
            across(state, m, 1);
        }
        overlap(all, states, cells, part, sums);
        for (int i = 0; i < pairs; i++)
            wrong += !(hypot(sums[i].re - before[i].re,
                             sums[i].im - before[i].im) < 1e-9 * before[0].re);
    }
    double elapsed = MPI_Wtime() - start;

    /* Where a wave came from, and all phases it has met on its way. */
    int *origin[3], *phase[3];
    for (int d = 0; d < 3; d++) {
        origin[d] = (int *)need(n), phase[d] = origin[d] + n;
        for (int j = 0; j < n; j++) {
            int moved = (int)((long)field[d] * iterations % n);
            int at = origin[d][j] = (j - moved + n) % n;
            for (int t = 0; t < iterations; t++, at = (at + field[d]) % n)
                phase[d][j] = (phase[d][j] + WAVE(at) * WAVE(at)) % TURN;
        }
    }
    for (int s = 0; s < states; s++)
        EACH(all + s * cells) {
            complex_t c = coefficient(s, origin[0][x], origin[1][y],
                                      origin[2][z]);
            c = times(c,
                      angle(-(double)(phase[0][x] + phase[1][y] + phase[2][z]) /
                            TURN));
            wrong += !(hypot(v->re - c.re, v->im - c.im) < 1e-9);
        }
    MPI_Allreduce(&wrong, &bad, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("planewave: %d ranks, %d states of %d^3, %.6f s, %s\n"
               "planewave: %d iterations of %.3f us, communication %.6f s, "
               "result %.12e\n",
               size, states, n, elapsed, bad ? "NOT VERIFIED" : "VERIFIED",
               iterations, elapsed / iterations * 1e6, communication,
               sums[pairs - 1].re);
    return MPI_Finalize(), bad != 0;
}
