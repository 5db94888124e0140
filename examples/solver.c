/*
 * solver.c - conjugate gradients for Poisson's equation on a square: a halo
 * exchange and sums over all ranks, as in most solvers.
 *
 *   mpicc -O2 -o solver examples/solver.c -lm
 *   srun -n 8 straightway run ./solver [N]
 *
 * The square has N x N inner points (default 48), and zeros around them. Each
 * rank has a block of rows. Rank 0 sends the right-hand side to all ranks
 * (MPI_Bcast). In each step a rank exchanges its edge rows with its neighbours
 * (MPI_Isend, MPI_Irecv), and all ranks add up two inner products
 * (MPI_Allreduce). At the end all ranks get the whole solution
 * (MPI_Allgatherv).
 *
 * The right-hand side is that of a known solution, a whole number at each
 * point. The solver passes if every rank finds it.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS_MAX 10000
#define SMALL 1e-10         /* of the residual, relative to the first */
#define CLOSE 1e-6          /* of a point to its known value          */

static int ranks, me, n, rows;

static double *vector(size_t count)
{
    double *v = calloc(count, sizeof *v);
    if (!v) {
        fprintf(stderr, "solver: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return v;
}

static int first_row(int rank)
{
    return (int)((long)n * rank / ranks);
}

/* The known solution, for rows and columns from 1 to n. */
static double known(int row, int column)
{
    if (row < 1 || row > n || column < 1 || column > n)
        return 0;
    return (row * 7 + column * 13 + row * column) % 11 - 5;
}

static double sum(const double *x, const double *y, size_t count)
{
    double part = 0, all;
    for (size_t i = 0; i < count; i++)
        part += x[i] * y[i];
    MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* y = A x. A row of x above the block and one below it belong to others. */
static void apply(double *x, double *y)
{
    int up = me > 0 ? me - 1 : MPI_PROC_NULL;
    int down = me < ranks - 1 ? me + 1 : MPI_PROC_NULL;
    double *last = x + (size_t)rows * n;
    MPI_Request halo[4];
    MPI_Irecv(x, n, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &halo[0]);
    MPI_Irecv(last + n, n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &halo[1]);
    MPI_Isend(x + n, n, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &halo[2]);
    MPI_Isend(last, n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &halo[3]);
    MPI_Waitall(4, halo, MPI_STATUSES_IGNORE);
    for (int i = 0; i < rows; i++) {
        const double *at = x + (size_t)(i + 1) * n;
        for (int j = 0; j < n; j++)
            y[(size_t)i * n + j] = 4 * at[j] - at[j - n] - at[j + n] -
                                   (j > 0 ? at[j - 1] : 0) -
                                   (j < n - 1 ? at[j + 1] : 0);
    }
}

/* Returns the number of steps. `r` begins as the right-hand side. */
static int solve(double *u, double *r)
{
    size_t cells = (size_t)rows * n;
    double *halo = vector(cells + 2 * (size_t)n), *p = halo + n;
    double *q = vector(cells);
    for (size_t i = 0; i < cells; i++)
        p[i] = r[i];
    double rr = sum(r, r, cells), enough = SMALL * SMALL * rr;
    int steps = 0;
    while (rr > enough && steps < STEPS_MAX) {
        apply(halo, q);
        double alpha = rr / sum(p, q, cells);
        for (size_t i = 0; i < cells; i++) {
            u[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double before = rr;
        rr = sum(r, r, cells);
        for (size_t i = 0; i < cells; i++)
            p[i] = r[i] + rr / before * p[i];
        steps++;
    }
    free(halo);
    free(q);
    return steps;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = argc > 1 ? atoi(argv[1]) : 48;
    if (n < ranks || n > 10000) {
        if (me == 0)
            fprintf(stderr, "usage: solver [N], N from the %d ranks to "
                    "10000\n", ranks);
        MPI_Finalize();
        return 2;
    }
    rows = first_row(me + 1) - first_row(me);

    double *all = vector((size_t)n * n), *u = vector((size_t)rows * n);
    int *count = malloc((size_t)ranks * sizeof *count);
    int *at = malloc((size_t)ranks * sizeof *at);
    if (!count || !at)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < ranks; i++) {
        at[i] = first_row(i) * n;
        count[i] = first_row(i + 1) * n - at[i];
    }
    for (int i = 1; i <= n && me == 0; i++)
        for (int j = 1; j <= n; j++)
            all[(size_t)(i - 1) * n + (j - 1)] =
                4 * known(i, j) - known(i - 1, j) - known(i + 1, j) -
                known(i, j - 1) - known(i, j + 1);

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    MPI_Bcast(all, n * n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    int steps = solve(u, all + at[me]);
    MPI_Allgatherv(u, count[me], MPI_DOUBLE, all, count, at, MPI_DOUBLE,
                   MPI_COMM_WORLD);
    double elapsed = MPI_Wtime() - start;

    long wrong = 0, sum_wrong = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            wrong += !(fabs(all[(size_t)(i - 1) * n + (j - 1)] -
                            known(i, j)) < CLOSE);
    MPI_Allreduce(&wrong, &sum_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("solver: %d x %d on %d ranks, %d steps: %.4f s\n%s\n", n, n,
               ranks, steps, elapsed, sum_wrong ? "FAIL" : "PASS");
    free(all);
    free(u);
    free(count);
    free(at);
    MPI_Finalize();
    return sum_wrong != 0;
}
