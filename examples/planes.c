/*
 * planes.c - a field that a steady wind carries, by three-dimensional Fourier
 * transforms whose communication hides behind the computing.
 *
 *   mpicc -O3 -o planes examples/planes.c -lm
 *   mpirun -n 2 straightway run ./planes [N [STEPS]] [--blocking] [--uneven F]
 *
 * The field has N x N x N complex numbers (default 64), and each rank a slab of
 * N / ranks planes. A step transforms the field, turns the phase of each wave,
 * and transforms the field back. The wind then has carried it on by one point
 * along each axis. So the program knows each number after each step.
 *
 * A transform goes along two axes of each plane. As soon as a plane is done,
 * MPI_Ialltoall sends its rows to the ranks that need them, while the rank
 * transforms the next plane. Then the rank has other planes, in which it
 * transforms along the third axis. With --blocking the rank calls MPI_Alltoall
 * instead, and computes nothing meanwhile.
 *
 * With --uneven F the ranks take turns: in each plane one of them computes 1 +
 * F times as much as the others. With a blocking call all ranks wait for this
 * one, plane by plane.
 *
 * N is a multiple of the number of ranks, and is best a power of two.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define CLOSE 1e-10 /* of a number to its known value */

typedef struct {
    double re, im;
} complex_t;

static int ranks, me, n, planes, blocking;
static double uneven, waited;
static complex_t *roots;        /* n of them: exp(-2 pi i j / n) */
static complex_t *spare, *idle; /* a plane each; no rank needs idle */
static complex_t *slab, *come;  /* planes of mine; what others sent */
static MPI_Request *under_way;  /* one for each plane */

static complex_t *numbers(size_t count)
{
    complex_t *v = calloc(count, sizeof *v);
    if (!v) {
        fprintf(stderr, "planes: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return v;
}

static complex_t times(complex_t a, complex_t b)
{
    return (complex_t){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static complex_t plus(complex_t a, complex_t b)
{
    return (complex_t){a.re + b.re, a.im + b.im};
}

static complex_t minus(complex_t a, complex_t b)
{
    return (complex_t){a.re - b.re, a.im - b.im};
}

/* exp(-2 pi i j / n), or its inverse if sign is -1. */
static complex_t root(long j, int sign)
{
    complex_t w = roots[j % n];
    return (complex_t){w.re, sign * w.im};
}

/* Transforms four numbers, which lie `apart` in x, and multiplies the results
 * by w; does so with `each` neighbours. */
static void four(const complex_t *x, size_t apart, complex_t *y, int each,
                 const complex_t *w, int sign)
{
    for (int q = 0; q < each; q++) {
        complex_t a = x[q], b = x[q + apart];
        complex_t c = x[q + 2 * apart], d = x[q + 3 * apart];
        complex_t ac = plus(a, c), bd = plus(b, d), turned = minus(b, d);
        turned = (complex_t){sign * turned.im, -sign * turned.re};
        y[q] = plus(ac, bd);
        y[q + each] = times(plus(minus(a, c), turned), w[1]);
        y[q + 2 * each] = times(minus(ac, bd), w[2]);
        y[q + 3 * each] = times(minus(minus(a, c), turned), w[3]);
    }
}

/* One result of `radix` numbers: their sum with the factors w, w next, ... */
static void any(const complex_t *x, size_t apart, complex_t *y, int each,
                int radix, complex_t w, complex_t next)
{
    for (int q = 0; q < each; q++)
        y[q] = times(x[q], w);
    for (int k = 1; k < radix; k++) {
        w = times(w, next);
        for (int q = 0; q < each; q++)
            y[q] = plus(y[q], times(x[k * apart + q], w));
    }
}

/* Transforms `width` sequences, x[n][width]. This is Stockham's way: a pass
 * reads one array and writes the other, in an order that ends sorted. */
static void transform(complex_t *x, int width, int sign)
{
    complex_t *from = x, *to = spare;
    for (int length = n, each = width; length > 1;) {
        int radix = length % 4 ? 2 : 4;
        while (length % radix)
            radix++;
        int part = length / radix, stride = n / length;
        size_t apart = (size_t)part * each;
        for (int p = 0; p < part; p++) {
            const complex_t *in = from + (size_t)p * each;
            complex_t *out = to + (size_t)p * radix * each, w[4];
            for (int j = 0; j < radix && radix == 4; j++)
                w[j] = root((long)j * p * stride, sign);
            if (radix == 4)
                four(in, apart, out, each, w, sign);
            for (int j = 0; j < radix && radix != 4; j++)
                any(in, apart, out + (size_t)j * each, each, radix,
                    root((long)j * p * stride, sign),
                    root((long)j * part * stride, sign));
        }
        complex_t *swap = from;
        from = to, to = swap;
        length = part, each *= radix;
    }
    if (from != x)
        memcpy(x, from, (size_t)n * width * sizeof *x);
}

/* Along the rows of a plane, then along its columns. */
static void plane_transform(complex_t *plane, int sign)
{
    for (int row = 0; row < n; row++)
        transform(plane + (size_t)row * n, 1, sign);
    transform(plane, n, sign);
}

/* Rank d gets the rows of a plane that are in its slab after the exchange. */
static void send_plane(int which)
{
    size_t cells = (size_t)n * n;
    complex_t *plane = slab + which * cells, *to = come + which * cells;
    int count = 2 * n * planes;
    double before = MPI_Wtime();
    if (blocking)
        MPI_Alltoall(plane, count, MPI_DOUBLE, to, count, MPI_DOUBLE,
                     MPI_COMM_WORLD);
    else
        MPI_Ialltoall(plane, count, MPI_DOUBLE, to, count, MPI_DOUBLE,
                      MPI_COMM_WORLD, &under_way[which]);
    waited += MPI_Wtime() - before;
}

/* The field as planes of y and x becomes its waves as planes of z and x, or
 * the other way round. */
static void field_transform(int sign)
{
    for (int i = 0; i < planes; i++) {
        plane_transform(slab + (size_t)i * n * n, sign);
        for (int more = 0; i % ranks == me && more < 2 * n * uneven; more++)
            transform(idle, 1, sign);
        send_plane(i);
    }
    double before = MPI_Wtime();
    if (!blocking)
        MPI_Waitall(planes, under_way, MPI_STATUSES_IGNORE);
    waited += MPI_Wtime() - before;
    for (int row = 0; row < planes; row++) {
        complex_t *plane = slab + (size_t)row * n * n;
        for (int z = 0; z < n; z++) {
            int i = z % planes, rank = z / planes;
            memcpy(plane + (size_t)z * n,
                   come + ((size_t)(i * ranks + rank) * planes + row) * n,
                   n * sizeof *plane);
        }
        transform(plane, n, sign);
    }
}

/* One point along each axis. Forth and back multiply all by N^3. */
static void wind(void)
{
    double all = (double)n * n * n;
    for (int row = 0; row < planes; row++)
        for (int z = 0; z < n; z++)
            for (int x = 0; x < n; x++) {
                complex_t *wave = slab + ((size_t)row * n + z) * n + x;
                *wave = times(*wave, root(x + me * planes + row + z, 1));
                wave->re /= all, wave->im /= all;
            }
}

/* The field at the start: irregular, so that each wave is in it. An index may
 * be below 0, by less than N. */
static complex_t known(int z, int y, int x)
{
    unsigned at = (((unsigned)((z + n) % n) * n + (y + n) % n) * n +
                   (x + n) % n + 1) *
                  2654435761u;
    return (complex_t){(at >> 8) % 1021 / 1021.0, (at >> 16) % 251 / 251.0};
}

/* Sets the field, or returns how far it is from what it should be. */
static double field(int steps, int set)
{
    double far = 0;
    for (int z = 0; z < planes; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                int by = steps % n;
                complex_t *at = slab + ((size_t)z * n + y) * n + x;
                complex_t is = known(me * planes + z - by, y - by, x - by);
                if (set)
                    *at = is;
                far = fmax(far, hypot(at->re - is.re, at->im - is.im));
                far = at->re == at->re && at->im == at->im ? far : HUGE_VAL;
            }
    return far;
}

/* The number of steps, or 0: the arguments are wrong. */
static int arguments(int argc, char **argv)
{
    int given = 0, number[2] = {64, 20};
    for (int i = 1; i < argc; i++) {
        char *end = "";
        if (!strcmp(argv[i], "--blocking"))
            blocking = 1;
        else if (!strcmp(argv[i], "--uneven") && i + 1 < argc)
            uneven = strtod(argv[++i], &end);
        else if (given < 2)
            number[given++] = (int)strtol(argv[i], &end, 10);
        else
            return 0;
        if (*end)
            return 0;
    }
    n = number[0];
    return n < ranks || n % ranks || n > 1024 || number[1] < 1 ||
                   !(uneven >= 0 && uneven <= 1000)
               ? 0
               : number[1];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int steps = arguments(argc, argv);
    if (!steps) {
        if (me == 0)
            fprintf(stderr,
                    "usage: planes [N [STEPS]] [--blocking] [--uneven "
                    "F], N a multiple of the %d ranks, at most 1024\n",
                    ranks);
        MPI_Finalize();
        return 2;
    }

    planes = n / ranks;
    roots = numbers(n);
    spare = numbers((size_t)n * n);
    idle = numbers(n);
    slab = numbers((size_t)planes * n * n);
    come = numbers((size_t)planes * n * n);
    under_way = malloc(planes * sizeof *under_way);
    if (!under_way)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int j = 0; j < n; j++)
        roots[j] = (complex_t){cos(2 * PI * j / n), -sin(2 * PI * j / n)};
    field(0, 1);

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        field_transform(1);
        wind();
        field_transform(-1);
    }
    double elapsed = MPI_Wtime() - start, far = field(steps, 0), farthest;
    MPI_Allreduce(&far, &farthest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int right = farthest < CLOSE;
    if (me == 0)
        printf("planes: %d^3 on %d ranks, %d steps: %.4f s, %.4f ms a "
               "transform, %.4f s in MPI, error %.3e\n%s\n",
               n, ranks, steps, elapsed, elapsed * 1000 / (2 * steps), waited,
               farthest, right ? "PASS" : "FAIL");
    free(roots), free(spare), free(idle);
    free(slab), free(come), free(under_way);
    MPI_Finalize();
    return !right;
}
