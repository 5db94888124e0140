/*
 * ft.c - a partial differential equation solved by three-dimensional Fourier
 * transforms, the kind of kernel that NAS FT stands for.
 *
 *   mpicc -O3 -o ft examples/kernels/ft.c -lm
 *   mpirun -n 2 ./ft [N [ITERATIONS [spoil]]]
 *
 * Diffusion on a periodic cube of N^3 points: one forward transform, then in
 * each iteration every wave decays by one more time step, and the field is
 * transformed back. Each rank has a slab of planes of the cube, so two
 * directions are local and the third needs a transpose.
 *
 * Communication, per iteration: one MPI_Alltoall of the whole field (each
 * rank sends every other N^3 / ranks^2 complex numbers) and one MPI_Allreduce
 * of 2 doubles.
 *
 * The field begins as a sum of a few waves, which a closed form gives at any
 * later time. The program compares each iteration's checksum over 1024 points
 * with it, and at the end every point.
 *
 * N is a power of two, the number of ranks one that divides it. "spoil"
 * alters one received number: the check must notice.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECAY 1e-6 /* of the wave |k| = 1 in one iteration */
#define WAVES 6
#define POINTS 1024 /* in a checksum */
#define PI 3.14159265358979323846
#define WAVE(i) ((i) < n / 2 ? (i) : (i) - n) /* index to wave number */

typedef struct {
    double re, im;
} complex_t;

static int n, rank, size, planes; /* planes of the cube per rank */
static complex_t *roots;          /* n of them: exp(-2 pi i j / n) */
static complex_t *lines, *spare;  /* the lines being transformed */
static double communication;

/* At random, but the same for all: a number below `below`. */
static int scatter(unsigned i, unsigned what, int below)
{
    unsigned long long h = (i * 64ull + what + 1) * 0x9e3779b97f4a7c15ull;
    h = (h ^ (h >> 31)) * 0xd6e8feb86659fd93ull;
    return (int)((h ^ (h >> 32)) % (unsigned)below);
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
                double re = a.re - b.re, im = a.im - b.im;
                to[q] = (complex_t){a.re + b.re, a.im + b.im};
                to[q + s] = (complex_t){re * w1.re - im * w1.im,
                                        re * w1.im + im * w1.re};
            }
            for (int q = 0; radix == 4 && q < s; q++) {
                complex_t a = from[q], b = from[q + far];
                complex_t c = from[q + 2 * far], d = from[q + 3 * far];
                double sr = a.re + c.re, si = a.im + c.im;
                double dr = a.re - c.re, di = a.im - c.im;
                double tr = b.re + d.re, ti = b.im + d.im;
                double er = sign * (d.im - b.im), ei = sign * (b.re - d.re);
                double ur = dr - er, ui = di - ei, vr = sr - tr;
                double vi = si - ti, zr = dr + er, zi = di + ei;
                to[q] = (complex_t){sr + tr, si + ti};
                to[q + s] = (complex_t){ur * w1.re - ui * w1.im,
                                        ur * w1.im + ui * w1.re};
                to[q + 2 * s] = (complex_t){vr * w2.re - vi * w2.im,
                                            vr * w2.im + vi * w2.re};
                to[q + 3 * s] = (complex_t){zr * w3.re - zi * w3.im,
                                            zr * w3.im + zi * w3.re};
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

/* In the slab [planes][n][n]: x and y. */
static void plane_transforms(complex_t *slab, int m, double sign)
{
    for (int z = 0; z < planes; z++) {
        complex_t *plane = slab + (size_t)z * n * n;
        for (int y = 0; y < n; y += m)
            along(plane + (size_t)y * n, 1, n, m, sign);
        for (int x = 0; x < n; x += m)
            along(plane + x, n, 1, m, sign);
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

/* Copies a slab into the blocks that a rank sends, [receiver][plane][y][x],
 * or back. The blocks that it receives are in order already: [z][y][x] of all
 * z and its own x. */
static void cut(complex_t *slab, complex_t *blocks, int back)
{
    for (int d = 0; d < size; d++)
        for (int zy = 0; zy < planes * n; zy++) {
            complex_t *whole = slab + (size_t)zy * n + d * planes;
            complex_t *part = blocks + ((size_t)d * planes * n + zy) * planes;
            memcpy(back ? whole : part, back ? part : whole,
                   planes * sizeof *part);
        }
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
    n = argc > 1 ? number(argv[1], 4, 1024) : 128;
    int iterations = argc > 2 ? number(argv[2], 1, 1000000) : 36;
    int spoil = argc > 3 && !strcmp(argv[3], "spoil");
    if (n < 4 || n & (n - 1) || n < size || n % size || iterations < 1 ||
        argc > 3 + spoil || 2.0 * n * (n / size) * (n / size) > 2147483647.0) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: ft [N [ITERATIONS [spoil]]], N a power of "
                    "two from 4 to 1024, a multiple of the %d ranks\n",
                    size);
        MPI_Finalize();
        return 2;
    }

    planes = n / size;
    size_t cells = (size_t)planes * n * n;
    int m = n < 16 ? n : 16; /* lines at a time: they fit in caches */
    complex_t *field = malloc(cells * sizeof *field);
    complex_t *waves = malloc(cells * sizeof *waves);
    complex_t *work = malloc(cells * sizeof *work);
    double *decay = malloc(n * sizeof *decay);
    roots = malloc(n * sizeof *roots);
    lines = malloc((size_t)n * m * sizeof *lines);
    spare = malloc((size_t)n * m * sizeof *spare);
    if (!field || !waves || !work || !decay || !roots || !lines || !spare) {
        fprintf(stderr, "ft: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int j = 0; j < n; j++) {
        roots[j] = (complex_t){cos(2 * PI * j / n), -sin(2 * PI * j / n)};
        decay[j] = exp(-DECAY * WAVE(j) * WAVE(j));
    }

    /* The waves, and what each adds to a checksum at the beginning. */
    int k[WAVES][3], square[WAVES];
    complex_t sums[WAVES] = {{0, 0}};
    for (int w = 0; w < WAVES; w++) {
        square[w] = 0;
        for (int d = 0; d < 3; d++) {
            k[w][d] = scatter(w, d, n);
            square[w] += WAVE(k[w][d]) * WAVE(k[w][d]);
        }
        for (int i = 0; i < POINTS; i++) {
            int at = 0;
            for (int d = 0; d < 3; d++)
                at = (at + k[w][d] * scatter(i, 3 + d, n)) % n;
            sums[w].re += roots[at].re / (w + 1);
            sums[w].im -= roots[at].im / (w + 1);
        }
    }
#define EACH_POINT(slab)                                                    \
    for (int z = 0; z < planes; z++)                                        \
        for (int y = 0; y < n; y++)                                         \
            for (complex_t *u = (slab) + ((size_t)z * n + y) * n, *row = u; \
                 u < row + n; u++)
#define PHASE(w)                               \
    ((k[w][0] * (int)(u - row) + k[w][1] * y + \
      k[w][2] * (rank * planes + z)) %         \
     n)

    EACH_POINT(field) {
        *u = (complex_t){0, 0};
        for (int w = 0; w < WAVES; w++) {
            u->re += roots[PHASE(w)].re / (w + 1);
            u->im -= roots[PHASE(w)].im / (w + 1);
        }
    }

    plane_transforms(field, m, 1);
    cut(field, work, 0);
    transpose(work, waves);
    for (size_t c = 0; c < (size_t)planes * n; c += m)
        along(waves + c, (size_t)planes * n, 1, m, 1);
    for (size_t c = 0; c < cells; c++) {
        waves[c].re /= (double)n * n * n;
        waves[c].im /= (double)n * n * n;
    }

    long wrong = 0, all = 0;
    complex_t checksum = {0, 0};
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    communication = 0;
    for (int step = 1; step <= iterations; step++) {
        for (int z = 0; z < n; z++)
            for (int y = 0; y < n; y++) {
                size_t row = ((size_t)z * n + y) * planes;
                for (int x = 0; x < planes; x++) {
                    double f = decay[z] * decay[y] * decay[rank * planes + x];
                    complex_t *v = waves + row + x;
                    work[row + x].re = v->re *= f;
                    work[row + x].im = v->im *= f;
                }
            }
        for (size_t c = 0; c < (size_t)planes * n; c += m)
            along(work + c, (size_t)planes * n, 1, m, -1);
        transpose(work, field);
        if (spoil && step == iterations && rank == size - 1)
            field[cells / 2].re += 1;
        cut(work, field, 1);
        plane_transforms(work, m, -1);

        complex_t part = {0, 0}, expected = {0, 0};
        for (int i = 0; i < POINTS; i++) {
            int z = scatter(i, 5, n) - rank * planes;
            if (z < 0 || z >= planes)
                continue;
            complex_t *u = work + ((size_t)z * n + scatter(i, 4, n)) * n +
                           scatter(i, 3, n);
            part.re += u->re, part.im += u->im;
        }
        double before = MPI_Wtime();
        MPI_Allreduce(&part, &checksum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        communication += MPI_Wtime() - before;
        for (int w = 0; w < WAVES; w++) {
            double f = exp(-DECAY * square[w] * step);
            expected.re += f * sums[w].re, expected.im += f * sums[w].im;
        }
        wrong += !(fabs(checksum.re - expected.re) < 1e-9 &&
                   fabs(checksum.im - expected.im) < 1e-9);
    }
    double elapsed = MPI_Wtime() - start;
    EACH_POINT(work) {
        complex_t expected = {0, 0};
        for (int w = 0; w < WAVES; w++) {
            double f = exp(-DECAY * square[w] * iterations) / (w + 1);
            expected.re += f * roots[PHASE(w)].re;
            expected.im -= f * roots[PHASE(w)].im;
        }
        wrong += !(fabs(u->re - expected.re) < 1e-11 &&
                   fabs(u->im - expected.im) < 1e-11);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("ft: %d ranks, %d^3 points, %.6f s, %s\n"
               "ft: %d iterations of %.3f us, communication %.6f s, "
               "result %.12e\n",
               size, n, elapsed, all ? "NOT VERIFIED" : "VERIFIED", iterations,
               elapsed / iterations * 1e6, communication, checksum.re);
    free(field), free(waves), free(work), free(decay);
    free(roots), free(lines), free(spare);
    MPI_Finalize();
    return all != 0;
}
