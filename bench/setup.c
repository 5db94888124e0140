/*
 * setup.c - calls that set something up, which the MPI serves: rank 0 prints ms
 * for each, the median of ROUNDS.
 *
 * Usage: setup ROUNDS
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static char memory[4096];
static int me;

static void dup(void)
{
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_free(&made);
}

static void split(void)
{
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &made);
    MPI_Comm_free(&made);
}

static void cart(void)
{
    int n, dims[2] = {0, 0}, periods[2] = {1, 1};
    MPI_Comm made;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Dims_create(n, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
    MPI_Comm_free(&made);
}

static void window(void)
{
    MPI_Win made;
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &made);
    MPI_Win_free(&made);
}

static void allocated(void)
{
    void *base;
    MPI_Win made;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
    MPI_Win_free(&made);
}

static void file(void)
{
    MPI_File made;
    MPI_File_open(MPI_COMM_WORLD, "bench-setup.tmp",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &made);
    MPI_File_close(&made);
}

static const struct {
    const char *name;
    void (*call)(void);
} rows[] = {{"MPI_Comm_dup", dup},           {"MPI_Comm_split", split},
            {"MPI_Cart_create", cart},       {"MPI_Win_create", window},
            {"MPI_Win_allocate", allocated}, {"MPI_File_open", file}};

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    double *ms = malloc((size_t)rounds * sizeof *ms);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        for (int i = 0; i < rounds; i++) {
            double begin = MPI_Wtime();
            rows[k].call();
            ms[i] = (MPI_Wtime() - begin) * 1e3;
        }
        qsort(ms, (size_t)rounds, sizeof *ms, order);
        if (me == 0)
            printf("%s %.4f\n", rows[k].name, ms[rounds / 2]);
    }
    free(ms);
    MPI_Finalize();
    return 0;
}
