/*
 * cube.c - a wave equation's steps by Fourier transforms of a cube, with FFTW.
 *
 *   cube EDGE STEPS
 *
 * Each step transforms the cube, turns the phase of each wave, and transforms
 * it back: two global transposes. The last line says how far the sum of
 * squares, which a step keeps, is off.
 */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static ptrdiff_t n, mine, first;

static double energy(fftw_complex *cube)
{
    double sum = 0, all;
    for (ptrdiff_t i = 0; i < mine * n * n; i++)
        sum += cube[i][0] * cube[i][0] + cube[i][1] * cube[i][1];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void turn(fftw_complex *cube)
{
    double scale = 1.0 / (double)(n * n * n);
    for (ptrdiff_t x = 0; x < mine; x++)
        for (ptrdiff_t y = 0; y < n; y++)
            for (ptrdiff_t z = 0; z < n; z++) {
                double *at = cube[(x * n + y) * n + z],
                       angle = 1e-4 * (double)((x + first) * (x + first) +
                                               y * y + z * z);
                double c = scale * cos(angle), s = scale * sin(angle);
                double real = at[0] * c - at[1] * s;
                at[1] = at[0] * s + at[1] * c;
                at[0] = real;
            }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    int me, steps = argc > 2 ? atoi(argv[2]) : 10;
    n = argc > 1 ? atol(argv[1]) : 64;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    ptrdiff_t room = fftw_mpi_local_size_3d(n, n, n, MPI_COMM_WORLD, &mine,
                                            &first);
    fftw_complex *cube = fftw_alloc_complex((size_t)room);
    fftw_plan forth = fftw_mpi_plan_dft_3d(n, n, n, cube, cube, MPI_COMM_WORLD,
                                           FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan back = fftw_mpi_plan_dft_3d(n, n, n, cube, cube, MPI_COMM_WORLD,
                                          FFTW_BACKWARD, FFTW_ESTIMATE);
    for (ptrdiff_t i = 0; i < mine * n * n; i++) {
        cube[i][0] = sin((double)(i + first * n * n) * 0.001);
        cube[i][1] = 0;
    }
    double before = energy(cube), begun = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        fftw_execute(forth);
        turn(cube);
        fftw_execute(back);
        if (step % 20 == 0) {
            double now = energy(cube);
            if (me == 0)
                printf("round %d: %.12g %.12g\n", step, now, cube[n / 2][0]);
        }
    }
    double off = energy(cube) / before - 1;
    if (me == 0)
        printf("off by %.12f\ntime %.6f s\n", off, MPI_Wtime() - begun);
    fftw_destroy_plan(forth);
    fftw_destroy_plan(back);
    fftw_free(cube);
    fftw_mpi_cleanup();
    MPI_Finalize();
    return 0;
}
