/*
 * columns.c - heat in a layer of air, cut into columns as in weather models: a
 * two-dimensional halo exchange of large faces.
 *
 *   mpicc -O2 -o columns examples/columns.c -lm
 *   mpirun -n 8 straightway run ./columns [N [LEVELS [STEPS]]]
 *
 * A rank has N x N columns (default 32) of LEVELS points (256). The ranks form
 * a grid with as equal sides as may be (MPI_Dims_create), numbered row by row.
 * In each of STEPS steps (100) a rank exchanges four faces of N x LEVELS
 * numbers with its neighbours (MPI_Irecv, MPI_Isend, MPI_Waitall). The
 * placement of the ranks decides which faces go over the network
 * (examples/place.py).
 *
 * The heat at the start is a half wave along each axis, and the air round the
 * layer is at zero. So a step multiplies the heat at each point by one known
 * factor, and the program checks that at its end.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define SHARE 0.125 /* of the heat that a point gives to each neighbour */
#define CLOSE 1e-11 /* of a point to its known value */

static int n = 32, levels = 256, steps = 100;
static int ranks, me, sides[2], at[2];
static MPI_Comm grid;
static MPI_Datatype wide; /* a face across the rows: N columns, a row apart */

static double *column(double *field, int i, int j)
{
    return field + ((size_t)i * (n + 2) + j) * levels;
}

static double *field_made(void)
{
    double *field = calloc((size_t)(n + 2) * (n + 2) * levels, sizeof *field);
    if (!field) {
        fprintf(stderr, "columns: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return field;
}

/* A half wave along an axis of so many points, at the point `i` from 1 on. */
static double wave(int i, int points)
{
    return sin(PI * i / (points + 1));
}

/* The part of the heat that one axis keeps from a point in a step. */
static double loss(int points)
{
    return 2 * SHARE * (1 - cos(PI / (points + 1)));
}

static double known(int i, int j, int k)
{
    return wave(at[0] * n + i, sides[0] * n) *
           wave(at[1] * n + j, sides[1] * n) * wave(k + 1, levels);
}

/* The faces to the neighbours before and after this rank along an axis. */
static int exchange_axis(double *field, int axis, MPI_Request *requests)
{
    int before, after, count = axis ? 1 : n * levels;
    MPI_Datatype type = axis ? wide : MPI_DOUBLE;
    MPI_Cart_shift(grid, axis, 1, &before, &after);
    MPI_Irecv(axis ? column(field, 1, 0) : column(field, 0, 1), count, type,
              before, axis, grid, &requests[0]);
    MPI_Irecv(axis ? column(field, 1, n + 1) : column(field, n + 1, 1), count,
              type, after, axis, grid, &requests[1]);
    MPI_Isend(column(field, 1, 1), count, type, before, axis, grid,
              &requests[2]);
    MPI_Isend(axis ? column(field, 1, n) : column(field, n, 1), count, type,
              after, axis, grid, &requests[3]);
    return 4;
}

static void exchange(double *field)
{
    MPI_Request requests[8];
    int count = exchange_axis(field, 0, requests);
    count += exchange_axis(field, 1, requests + count);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void step(double *old, double *new)
{
    size_t row = (size_t)(n + 2) * levels;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            const double *u = column(old, i, j);
            double *v = column(new, i, j);
            for (int k = 0; k < levels; k++) {
                double below = k ? u[k - 1] : 0;
                double above = k + 1 < levels ? u[k + 1] : 0;
                double round = u[k - row] + u[k + row] + u[k - levels] +
                               u[k + levels] + below + above;
                v[k] = u[k] + SHARE * (round - 6 * u[k]);
            }
        }
}

/* Sets the field, or returns how far it is from what it should be. */
static double field_off(double *field, double factor, int set)
{
    double far = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            for (int k = 0; k < levels; k++) {
                double *is = column(field, i, j) + k;
                double off = fabs(*is - factor * known(i, j, k));
                if (set)
                    *is = known(i, j, k);
                else
                    far = off <= far ? far : off == off ? off : HUGE_VAL;
            }
    return far;
}

static int arguments(int argc, char **argv)
{
    int *to[] = {&n, &levels, &steps};
    for (int i = 1; i < argc; i++) {
        char *end = "";
        long value = i <= 3 ? strtol(argv[i], &end, 10) : -1;
        if (*end || value < (i < 3) || value > 100000)
            return 0;
        *to[i - 1] = (int)value;
    }
    return (long)n * levels <= 1 << 24;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!arguments(argc, argv)) {
        if (me == 0)
            fprintf(stderr, "usage: columns [N [LEVELS [STEPS]]], N and LEVELS "
                            "at least 1\n");
        MPI_Finalize();
        return 2;
    }
    MPI_Dims_create(ranks, 2, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, (int[2]){0, 0}, 0, &grid);
    MPI_Cart_coords(grid, me, 2, at);
    MPI_Type_vector(n, levels, (n + 2) * levels, MPI_DOUBLE, &wide);
    MPI_Type_commit(&wide);
    double *old = field_made(), *new = field_made();
    field_off(old, 0, 1);

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < steps; i++) {
        exchange(old);
        step(old, new);
        double *swap = old;
        old = new, new = swap;
    }
    double elapsed = MPI_Wtime() - start, farthest;
    double far = field_off(
        old,
        pow(1 - loss(sides[0] * n) - loss(sides[1] * n) - loss(levels), steps),
        0);
    MPI_Allreduce(&far, &farthest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int right = farthest < CLOSE;
    if (me == 0)
        printf("columns: %d x %d ranks, faces of %zu bytes, %d steps: %.4f s, "
               "error %.1e\n%s\n",
               sides[0], sides[1], (size_t)n * levels * sizeof *old, steps,
               elapsed, farthest, right ? "PASS" : "FAIL");
    free(old), free(new);
    MPI_Type_free(&wide);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return !right;
}
