/*
 * virtual_window_ring.c - all ranks do the same, with windows: Straightway can
 * extrapolate that. With "half" they use windows of half of the ranks, which it
 * cannot extrapolate.
 */
#include "mpi/test.h"

int main(int argc, char **argv)
{
    int me, n, *mine, data[100] = {0}, one = 1;
    MPI_Comm where = MPI_COMM_WORLD;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    if (argc > 1) {
        MPI_Comm_rank(MPI_COMM_WORLD, &me);
        MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &where);
    }
    MPI_Comm_rank(where, &me);
    MPI_Comm_size(where, &n);
    int right = (me + 1) % n, left = (me + n - 1) % n;
    MPI_Win_allocate(200 * sizeof(int), sizeof(int), MPI_INFO_NULL, where,
                     &mine, &window);
    for (int i = 0; i < 5; i++) {
        MPI_Win_fence(0, window);
        MPI_Put(data, 100, MPI_INT, right, 0, 100, MPI_INT, window);
        MPI_Win_fence(0, window);
        MPI_Get(data, 50, MPI_INT, left, 100, 50, MPI_INT, window);
        MPI_Win_fence(0, window);
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
        MPI_Accumulate(&one, 1, MPI_INT, right, 150, 1, MPI_INT, MPI_SUM,
                       window);
        MPI_Win_flush(right, window);
        MPI_Win_unlock(right, window);
        MPI_Win_lock_all(0, window);
        MPI_Put(data, 10, MPI_INT, left, 0, 10, MPI_INT, window);
        MPI_Win_unlock_all(window);
        MPI_Barrier(where);
    }
    MPI_Win_free(&window);
    if (where != MPI_COMM_WORLD)
        MPI_Comm_free(&where);
    MPI_Finalize();
    printf(" VERIFIED\n");
    return 0;
}
