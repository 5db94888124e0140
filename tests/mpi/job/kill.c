/*
 * kill.c - one rank goes away inside a stream of collective calls.
 *
 *   kill HOW     signal | abort | exit
 *
 * The job must end by itself about as fast as the host ends it; this program
 * never ends well.
 */
#include "mpi/test.h"
#include <signal.h>

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "signal";
    double *a = calloc(100000, 8), *b = calloc(100000, 8);
    int periodic = 1;
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 0, &grid);
    for (long i = 0;; i++) {
        MPI_Allreduce(a, b, i % 2 ? 100000 : 1, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        MPI_Bcast(a, 100, MPI_DOUBLE, (int)(i % world_size), MPI_COMM_WORLD);
        for (int k = 0; k < 3; k++)
            MPI_Neighbor_alltoall(a, 1000, MPI_DOUBLE, b, 1000, MPI_DOUBLE,
                                  grid);
        if (i == 300 && world_rank == world_size - 1) {
            if (!strcmp(how, "signal"))
                raise(SIGKILL);
            else if (!strcmp(how, "abort"))
                MPI_Abort(MPI_COMM_WORLD, 5);
            else
                _exit(6);
        }
    }
}
