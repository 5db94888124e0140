/*
 * grid.c - Poisson's equation on a cube of EDGE points to a side, by MUMPS.
 *
 *   grid EDGE
 *
 * Rank 0 has the matrix and the right side, and checks the solution. MUMPS
 * orders, factorises and solves on all ranks.
 */
#include <dmumps_c.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INIT = -1, END = -2, ALL = 6, ROUNDS = 3, WORLD = -987654 };

static int edge, n;

static int point(int x, int y, int z)
{
    return (z * edge + y) * edge + x;
}

/* Fills the upper half of the matrix; returns the number of elements. */
static int fill(DMUMPS_STRUC_C *it)
{
    int k = 0;
    for (int z = 0; z < edge; z++)
        for (int y = 0; y < edge; y++)
            for (int x = 0; x < edge; x++) {
                int here = point(x, y, z),
                    next[] = {here, x + 1 < edge ? point(x + 1, y, z) : -1,
                              y + 1 < edge ? point(x, y + 1, z) : -1,
                              z + 1 < edge ? point(x, y, z + 1) : -1};
                for (int i = 0; i < 4; i++)
                    if (next[i] >= 0) {
                        it->irn[k] = here + 1;
                        it->jcn[k] = next[i] + 1;
                        it->a[k++] = i ? -1 : 6.5;
                    }
            }
    return k;
}

/* The largest element of A x - 1. */
static double residual(const DMUMPS_STRUC_C *it)
{
    double *sum = calloc((size_t)n, sizeof *sum), most = 0;
    for (int k = 0; k < it->nz; k++) {
        int i = it->irn[k] - 1, j = it->jcn[k] - 1;
        sum[i] += it->a[k] * it->rhs[j];
        if (i != j)
            sum[j] += it->a[k] * it->rhs[i];
    }
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(sum[i] - 1));
    free(sum);
    return most;
}

static void call(DMUMPS_STRUC_C *it, int what)
{
    it->job = what;
    dmumps_c(it);
    if (it->infog[0] < 0) {
        fprintf(stderr, "MUMPS: error %d\n", it->infog[0]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    edge = argc > 1 ? atoi(argv[1]) : 16;
    n = edge * edge * edge;
    DMUMPS_STRUC_C it;
    memset(&it, 0, sizeof it);
    it.par = 1;
    it.sym = 1;
    it.comm_fortran = WORLD;
    call(&it, INIT);
    for (int i = 0; i < 4; i++)
        it.icntl[i] = 0; /* it prints nothing */
    it.icntl[6] = 7;     /* it chooses the order by itself */
    if (me == 0) {
        size_t most = 4 * (size_t)n;
        it.n = n;
        it.irn = malloc(most * sizeof *it.irn);
        it.jcn = malloc(most * sizeof *it.jcn);
        it.a = malloc(most * sizeof *it.a);
        it.rhs = malloc((size_t)n * sizeof *it.rhs);
        it.nz = fill(&it);
    }
    double begun = MPI_Wtime();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; me == 0 && i < n; i++)
            it.rhs[i] = 1;
        call(&it, ALL);
    }
    if (me == 0) {
        double took = MPI_Wtime() - begun, sum = 0;
        for (int i = 0; i < n; i++)
            sum += it.rhs[i];
        printf("sum %.12g\nresidual %.12f\ntime %.6f s\n", sum, residual(&it),
               took);
    }
    call(&it, END);
    MPI_Finalize();
    return 0;
}
