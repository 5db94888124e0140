/*
 * kill_rma.c - a rank goes away while others wait for it in a window.
 *
 *   kill_rma HOW     lock | post | fence
 *
 * The job must end by itself about as fast as the host ends it; this program
 * never ends well.
 */
#include "mpi/test.h"
#include <signal.h>

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "lock";
    long *memory = calloc(10000, sizeof *memory), value = 0;
    int last = world_size - 1;
    MPI_Win window;
    MPI_Group all;
    MPI_Win_create(memory, 10000 * sizeof *memory, sizeof *memory,
                   MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (!strcmp(how, "lock") && world_rank == last)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == last) {
        usleep(100000);
        raise(SIGKILL);
    }
    if (!strcmp(how, "lock")) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    } else if (!strcmp(how, "post")) {
        MPI_Win_start(all, 0, window);
        MPI_Put(&value, 1, MPI_LONG, last, 0, 1, MPI_LONG, window);
        MPI_Win_complete(window);
    } else {
        MPI_Win_fence(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    test_end();
    return 0;
}
