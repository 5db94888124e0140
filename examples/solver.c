/*
 * solver.c - conjugate gradients for Poisson's equation on a square: a halo
 * exchange and sums over all ranks, as in most solvers.
 *
 *   mpicc -O2 -o solver examples/solver.c -lm
 *   srun -n 8 straightway run ./solver [N] [--pipelined]
 *
 * The square has N x N inner points (default 48), and zeros around them. Each
 * rank has a block of rows. Rank 0 sends the right-hand side to all ranks
 * (MPI_Bcast). In each step a rank exchanges its edge rows with its neighbours
 * (MPI_Isend, MPI_Irecv), and all ranks add up two inner products
 * (MPI_Allreduce). At the end all ranks get the whole solution
 * (MPI_Allgatherv).
 *
 * With --pipelined a step has one sum, of both products, and hides it: all
 * ranks start it (MPI_Iallreduce), multiply by the matrix meanwhile, and wait
 * for it (P. Ghysels, W. Vanroose: Hiding global synchronization latency in the
 * preconditioned Conjugate Gradient algorithm, Parallel Computing 40, 2014).
 * There the residual and others follow by recurrences, whose rounding adds up.
 * So the ranks compute them anew now and then, and before they believe the end.
 *
 * The right-hand side is that of a known solution, a whole number at each
 * point. The solver passes if every rank finds it.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 10000
#define ANEW 50     /* steps after which rounding is undone */
#define SMALL 1e-12 /* of the residual, relative to the first */
#define CLOSE 1e-6  /* of a point to its known value */

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

static double product(const double *x, const double *y, size_t count)
{
    double part = 0;
    for (size_t i = 0; i < count; i++)
        part += x[i] * y[i];
    return part;
}

static double sum(const double *x, const double *y, size_t count)
{
    double part = product(x, y, count), all;
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

/* y = A x, where x has no room for a halo. */
static void multiply(const double *x, double *halo, double *y)
{
    memcpy(halo + n, x, (size_t)rows * n * sizeof *x);
    apply(halo, y);
}

/* The same with one sum a step, under way while q = A w. Recurrences keep
 * w = A r, s = A p and z = A s. */
static int solve_pipelined(double *u, const double *b)
{
    size_t cells = (size_t)rows * n;
    double *halo = vector(cells + 2 * (size_t)n), *w = halo + n;
    double *r = vector(5 * cells), *p = r + cells, *q = p + cells;
    double *s = q + cells, *z = s + cells;
    double alpha = 1, before = HUGE_VAL, enough = -1;
    int steps = 0, since = ANEW;
    while (steps < STEPS_MAX) {
        if (since == ANEW) {
            multiply(u, halo, r);
            for (size_t i = 0; i < cells; i++)
                r[i] = b[i] - r[i];
            multiply(p, halo, s);
            multiply(s, halo, z);
            multiply(r, halo, q);
            memcpy(w, q, cells * sizeof *w);
            since = 0;
        }
        double part[2] = {product(r, r, cells), product(w, r, cells)}, all[2];
        MPI_Request sums;
        MPI_Iallreduce(part, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                       &sums);
        apply(halo, q);
        MPI_Wait(&sums, MPI_STATUS_IGNORE);
        if (enough < 0)
            enough = SMALL * SMALL * all[0];
        if (!(all[0] > enough)) {
            if (since == 0)
                break;
            since = ANEW;
            continue;
        }
        double beta = all[0] / before;
        alpha = all[0] / (all[1] - beta * all[0] / alpha);
        before = all[0];
        for (size_t i = 0; i < cells; i++) {
            z[i] = q[i] + beta * z[i];
            s[i] = w[i] + beta * s[i];
            p[i] = r[i] + beta * p[i];
            u[i] += alpha * p[i];
            r[i] -= alpha * s[i];
            w[i] -= alpha * z[i];
        }
        steps++, since++;
    }
    free(halo);
    free(r);
    return steps;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int pipelined = argc > 1 && !strcmp(argv[argc - 1], "--pipelined");
    n = argc > 1 + pipelined ? atoi(argv[1]) : 48;
    if (n < ranks || n > 10000 || argc > 2 + pipelined) {
        if (me == 0)
            fprintf(stderr,
                    "usage: solver [N] [--pipelined], N from the %d "
                    "ranks to 10000\n",
                    ranks);
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
            all[(size_t)(i - 1) * n + (j - 1)] = 4 * known(i, j) -
                                                 known(i - 1, j) -
                                                 known(i + 1, j) -
                                                 known(i, j - 1) -
                                                 known(i, j + 1);

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    MPI_Bcast(all, n * n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    int steps = pipelined ? solve_pipelined(u, all + at[me])
                          : solve(u, all + at[me]);
    MPI_Allgatherv(u, count[me], MPI_DOUBLE, all, count, at, MPI_DOUBLE,
                   MPI_COMM_WORLD);
    double elapsed = MPI_Wtime() - start;

    long wrong = 0, sum_wrong = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            wrong += !(fabs(all[(size_t)(i - 1) * n + (j - 1)] - known(i, j)) <
                       CLOSE);
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
