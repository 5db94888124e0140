/*
 * persistent_testall.c - MPI_Testall on persistent collectives, while a receive
 * of a large message is pending. MPICH raises an error there, with the flag
 * that says no, and has completed nothing. A program that handles errors itself
 * asks again.
 */
#include "mpi/test.h"

#define MANY 6
#define N 4000
#define LARGE (1 << 18)

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
#if HAVE_LARGE_COUNT
    static int in[MANY][N], sums[MANY][N], message[LARGE], got[LARGE];
    int flag, peer = (world_rank + 1) % world_size;
    MPI_Comm comm[MANY];
    MPI_Request q[MANY], late;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int k = 0; k < MANY; k++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[k]);
        MPI_Scan_init(in[k], sums[k], N >> 2 * k, MPI_INT, MPI_SUM, comm[k],
                      MPI_INFO_NULL, &q[k]);
    }
    MPI_Irecv(got, LARGE, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &late);
    for (int turn = 0; turn < 200; turn++) {
        for (int k = 0; k < MANY; k++)
            for (int i = 0; i < N >> 2 * k; i++)
                in[k][i] = turn + k + i, sums[k][i] = -1;
        if (world_rank == turn % world_size)
            usleep(100);
        for (int k = 0; k < MANY; k++)
            MPI_Start(&q[k]);
        do
            MPI_Testall(MANY, q, &flag, MPI_STATUSES_IGNORE);
        while (!flag);
        for (int k = 0; k < MANY; k++)
            for (int i = 0; i < N >> 2 * k; i++)
                CHECK(sums[k][i] == (world_rank + 1) * (turn + k + i),
                      "turn %d: sum %d is %d at %d", turn, k, sums[k][i], i);
    }
    MPI_Send(message, LARGE, MPI_INT, peer, 5, MPI_COMM_WORLD);
    MPI_Wait(&late, MPI_STATUS_IGNORE);
    for (int k = 0; k < MANY; k++) {
        MPI_Request_free(&q[k]);
        MPI_Comm_free(&comm[k]);
    }
#endif
    test_end();
    return 0;
}
