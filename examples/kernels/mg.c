/*
 * mg.c - Poisson's equation solved by multigrid, the kind of kernel that NAS
 * MG stands for.
 *
 *   mpicc -O3 -o mg examples/kernels/mg.c -lm
 *   mpirun -n 2 ./mg [N [SOLVES [spoil]]]
 *
 * Each rank has a box of a periodic grid of N^3 points, and of the coarser
 * grids. A solve takes ten V-cycles from zero: two Jacobi sweeps
 * each way (damped by Chebyshev's weights), full weighting, trilinear
 * interpolation.
 *
 * Communication: before each sweep and each change of grids, a rank exchanges
 * its box's faces with the neighbours by MPI_Irecv, MPI_Isend and MPI_Waitall.
 * It takes one direction after the other, so that corners travel along. Faces
 * across y are rows with gaps (a derived datatype), the program packs those
 * across x by hand, and those across z are contiguous. Messages shrink with
 * the grids: the coarse ones cost only latency. An MPI_Allreduce of a norm
 * ends each cycle.
 *
 * The right side is a sum of waves, for which a closed form gives the discrete
 * solution. The program compares each solve with it at every point, and the
 * norms must fall from cycle to cycle.
 *
 * N and the number of ranks are powers of two, each edge of a box has at least
 * 4 points. "spoil" alters one number of a halo: the check must notice.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLES = 10, LEVELS = 12 };
#define WAVES 3
#define PI 3.14159265358979323846

/* The two steps that damp the upper half of the spectrum, 1/3 to 2, best. */
static const double steps[2] = {1.7319 / 6, 0.5695 / 6};
static const int waves[WAVES][3] = {{1, 1, 2}, {0, 3, 1}, {2, 1, 0}};

/* A rank's box of one grid, [z][y][x], with a halo of one point all around.
 * `right` is the right side times the square of the grid's spacing. */
typedef struct {
    int n[3];                  /* x, y, z; the halo not counted */
    double *u, *right, *other; /* other: a residual, or the next u */
    MPI_Datatype rows;         /* a face across y */
} grid_t;

static grid_t grids[LEVELS];
static int levels, size, rank, low[3], high[3], parts[3], at[3];
static double *packed, *line, communication, spoilt;
static MPI_Comm boxes;

#define WIDE(g) ((size_t)(g)->n[0] + 2)
#define PLANE(g) (WIDE(g) * ((g)->n[1] + 2))
#define CELLS(g) (PLANE(g) * ((g)->n[2] + 2))
#define ROWS(g)                          \
    for (int z = 1; z <= (g)->n[2]; z++) \
        for (int y = 1; y <= (g)->n[1]; y++)
#define POINTS(g)                                                            \
    ROWS(g)                                                                  \
        for (size_t c = z * PLANE(g) + y * WIDE(g) + 1, end = c + (g)->n[0]; \
             c < end; c++)
#define ROW(g, array, y, z) ((array) + (z) * PLANE(g) + (y) * WIDE(g))

/* The column x of all rows, from a grid to `face` or back. */
static void column(grid_t *g, double *a, int x, double *face, int back)
{
    ROWS(g) {
        double *cell = ROW(g, a, y, z) + x;
        *(back ? cell : face) = *(back ? face : cell);
        face++;
    }
}

/* Copies a face inside the box, where it is its own neighbour. */
static void wrap(grid_t *g, double *a, int d, int from, int to)
{
    size_t step = d ? d == 1 ? WIDE(g) : PLANE(g) : 1;
    size_t bytes = (d ? WIDE(g) : 1) * sizeof *a;
    for (int z = 0; z < (d == 2 ? 1 : g->n[2] + 2); z++)
        for (int y = 0; y < (d == 1 ? 1 : g->n[1] + 2); y++)
            memcpy(ROW(g, a, y, z) + to * step, ROW(g, a, y, z) + from * step,
                   bytes);
}

static void exchange(grid_t *g, double *a)
{
    double before = MPI_Wtime();
    for (int d = 0; d < 3; d++) {
        int n = g->n[d], face = g->n[1] * g->n[2], count = face;
        if (parts[d] == 1) {
            wrap(g, a, d, n, 0), wrap(g, a, d, 1, n + 1);
            continue;
        }
        MPI_Datatype type = MPI_DOUBLE;
        double *sent[2], *come[2]; /* my low and high face, the halos */
        if (d == 0) {
            for (int i = 0; i < 2; i++) {
                sent[i] = packed + i * face;
                come[i] = packed + (2 + i) * face;
                column(g, a, i ? n : 1, sent[i], 0);
            }
        } else {
            size_t pitch = d == 1 ? WIDE(g) : PLANE(g);
            double *base = d == 1 ? a + PLANE(g) : a;
            come[0] = base, sent[0] = base + pitch;
            sent[1] = base + n * pitch, come[1] = sent[1] + pitch;
            count = d == 1 ? 1 : (int)pitch;
            type = d == 1 ? g->rows : type;
        }
        MPI_Request requests[4];
        MPI_Irecv(come[0], count, type, low[d], 0, boxes, &requests[0]);
        MPI_Irecv(come[1], count, type, high[d], 1, boxes, &requests[1]);
        MPI_Isend(sent[1], count, type, high[d], 0, boxes, &requests[2]);
        MPI_Isend(sent[0], count, type, low[d], 1, boxes, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; d == 0 && i < 2; i++)
            column(g, a, i * (n + 1), come[i], 1);
    }
    communication += MPI_Wtime() - before;
    if (g == grids)
        ROW(g, a, 0, 1)[1] += spoilt;
}

/* other = scale * u + weight * (right - A u), A the usual seven points. */
static void apply(grid_t *g, double scale, double weight)
{
    size_t wide = WIDE(g), plane = PLANE(g);
    exchange(g, g->u);
    ROWS(g) {
        const double *u = ROW(g, g->u, y, z), *f = ROW(g, g->right, y, z);
        double *o = ROW(g, g->other, y, z);
        for (int x = 1; x <= g->n[0]; x++)
            o[x] = scale * u[x] +
                   weight *
                       (f[x] - 6 * u[x] + u[x - 1] + u[x + 1] + u[x - wide] +
                        u[x + wide] + u[x - plane] + u[x + plane]);
    }
}

static void smooth(grid_t *g, int sweeps)
{
    for (int i = 0; i < sweeps; i++) {
        apply(g, 1, steps[i % 2]);
        double *swap = g->u;
        g->u = g->other, g->other = swap;
    }
}

/* Coarse point j lies on fine point 2j - 1. */
static void restrict_residual(grid_t *g, grid_t *c)
{
    exchange(g, g->other);
    ROWS(c) {
        double *f = ROW(c, c->right, y, z);
        memset(f + 1, 0, c->n[0] * sizeof *f);
        for (int i = 0; i < 9; i++) {
            int a = i % 3 - 1, b = i / 3 - 1;
            double w = 4.0 / 64 * (2 - abs(a)) * (2 - abs(b));
            const double *r = ROW(g, g->other, 2 * y - 1 + a, 2 * z - 1 + b);
            for (int x = 1; x <= c->n[0]; x++)
                f[x] += w * (r[2 * x - 2] + 2 * r[2 * x - 1] + r[2 * x]);
        }
    }
}

static void add_correction(grid_t *g, grid_t *c)
{
    exchange(c, c->u);
    ROWS(g) {
        const double *p = ROW(c, c->u, (y + 1) / 2, (z + 1) / 2);
        size_t up = y % 2 ? 0 : WIDE(c), out = z % 2 ? 0 : PLANE(c);
        for (int x = 1; x <= c->n[0] + 1; x++)
            line[x] = (p[x] + p[x + up] + p[x + out] + p[x + up + out]) / 4;
        double *u = ROW(g, g->u, y, z);
        for (int x = 1; x <= c->n[0]; x++) {
            u[2 * x - 1] += line[x];
            u[2 * x] += (line[x] + line[x + 1]) / 2;
        }
    }
}

static void cycle(grid_t *g)
{
    smooth(g, g == &grids[levels - 1] ? 16 : 2);
    if (g == &grids[levels - 1])
        return;
    apply(g, 0, 1);
    restrict_residual(g, g + 1);
    memset(g[1].u, 0, CELLS(g + 1) * sizeof *g->u);
    cycle(g + 1);
    add_correction(g, g + 1);
    smooth(g, 2);
}

/* The waves, and what A makes of them. */
static void fill(grid_t *g, int n, double *exact)
{
    for (int w = 0; w < WAVES; w++) {
        double k[3], value = 0;
        for (int d = 0; d < 3; d++) {
            k[d] = 2 * PI * waves[w][d] / n;
            value += 2 - 2 * cos(k[d]);
        }
        POINTS(g) {
            int x = g->n[0] - (int)(end - c); /* from 0 */
            double u = cos(k[0] * (at[0] * g->n[0] + x)) *
                       cos(k[1] * (at[1] * g->n[1] + y) + w) *
                       cos(k[2] * (at[2] * g->n[2] + z) + w);
            exact[c] += u, g->right[c] += value * u;
        }
    }
}

static double *need(size_t count)
{
    double *block = calloc(count, sizeof *block);
    if (!block && fprintf(stderr, "mg: out of memory\n"))
        MPI_Abort(MPI_COMM_WORLD, 1);
    return block;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = argc > 1 ? atoi(argv[1]) : 128;
    int solves = argc > 2 ? atoi(argv[2]) : 12;
    int spoil = argc > 3 && !strcmp(argv[3], "spoil"), dims[3] = {0};
    int round[3] = {1, 1, 1}, place[3];
    MPI_Dims_create(size, 3, dims); /* the largest comes first */
    if (n < 4 || n > 1024 || n & (n - 1) || size & (size - 1) ||
        n / dims[0] < 4 || solves < 1 || argc > 3 + spoil) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: mg [N [SOLVES [spoil]]], N a power of two "
                    "up to 1024, ranks (%d) too, 4 points of each edge for "
                    "each\n",
                    size);
        MPI_Finalize();
        return 2;
    }
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, round, 0, &boxes);
    MPI_Cart_coords(boxes, rank, 3, place);
    for (int i = 0; i < 3; i++) { /* cut across y first, then x */
        int d = (int[]){1, 0, 2}[i];
        MPI_Cart_shift(boxes, i, 1, &low[d], &high[d]);
        parts[d] = dims[i], at[d] = place[i];
    }
    for (int edge = n; edge / dims[0] >= 2; edge /= 2) {
        grid_t *g = &grids[levels++];
        for (int d = 0; d < 3; d++)
            g->n[d] = edge / parts[d];
        g->u = need(CELLS(g));
        g->right = need(CELLS(g)), g->other = need(CELLS(g));
        MPI_Type_vector(g->n[2], (int)WIDE(g), (int)PLANE(g), MPI_DOUBLE,
                        &g->rows);
        MPI_Type_commit(&g->rows);
    }
    grid_t *fine = grids;
    double *exact = need(CELLS(fine));
    packed = need(4 * (size_t)fine->n[1] * fine->n[2]), line = need(WIDE(fine));
    fill(fine, n, exact);

    long wrong = 0, all = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), first = 0;
    for (int solve = 1; solve <= solves; solve++) {
        double last = INFINITY;
        memset(fine->u, 0, CELLS(fine) * sizeof *fine->u);
        for (int i = 0; i < CYCLES; i++) {
            spoilt = spoil && solve == solves && i == CYCLES - 1 &&
                     rank == size - 1;
            cycle(fine);
            apply(fine, 0, 1);
            double sum = 0, norm;
            POINTS(fine)
                sum += fine->other[c] * fine->other[c];
            double before = MPI_Wtime();
            MPI_Allreduce(&sum, &norm, 1, MPI_DOUBLE, MPI_SUM, boxes);
            communication += MPI_Wtime() - before;
            norm = sqrt(norm);
            first = i ? first : norm;
            wrong += !(norm < 0.5 * last || norm < 1e-9 * first);
            last = norm;
        }
        POINTS(fine)
            wrong += !(fabs(fine->u[c] - exact[c]) < 1e-7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed = MPI_Wtime() - start;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, boxes);
    if (rank == 0)
        printf("mg: %d ranks, %d^3 points, %.6f s, %s\n"
               "mg: %d iterations of %.3f us, communication %.6f s, "
               "result %.12e\n",
               size, n, elapsed, all ? "NOT VERIFIED" : "VERIFIED", solves,
               elapsed / solves * 1e6, communication, first);
    return MPI_Finalize(), all != 0;
}
