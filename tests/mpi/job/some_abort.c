/*
 * some_abort.c - some ranks abort a communicator of their own, and the others
 * finish.
 *
 *   some_abort [all]
 *
 * MPICH can end those ranks alone: `-disable-auto-cleanup` keeps its launcher
 * from ending the others, and MPIR_CVAR_NO_COLLECTIVE_FINALIZE its MPI_Finalize
 * from waiting for them. `all`: every odd rank aborts, not one of them.
 */
#include "mpi/test.h"

int main(int argc, char **argv)
{
    MPI_Comm half;
    static char out[100000], in[100000];
    MPI_Request requests[2];
    test_start(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
    MPI_Barrier(half);
    if (world_rank == 1 || (argc > 1 && world_rank % 2))
        MPI_Abort(half, 8);
    int n, me;
    MPI_Comm_size(half, &n);
    MPI_Comm_rank(half, &me);
    if (world_rank % 2 == 0) {
        fill_from(out, sizeof out, (uint64_t)me);
        MPI_Isend(out, sizeof out, MPI_BYTE, (me + 1) % n, 0, half, requests);
        MPI_Irecv(in, sizeof in, MPI_BYTE, (me + n - 1) % n, 0, half,
                  requests + 1);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(wrong_from(in, sizeof in, (uint64_t)((me + n - 1) % n)) ==
                  sizeof in,
              "a message is wrong");
        if (me == 1)
            printf("the even ranks are well\n");
        fflush(stdout);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
