/*
 * empty_blocks.c - MPI_Alltoallw as a halo exchange calls it: each rank talks
 * to its neighbours, and the blocks of all others have no elements and no
 * type. A host may accept MPI_DATATYPE_NULL there or not. Where it does not,
 * `int` asks for a type that merely differs from the neighbours'.
 *
 *   empty_blocks null|int
 */
#include "mpi/test.h"

#define N 1000

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int n = world_size, right = (world_rank + 1) % n,
        left = (world_rank + n - 1) % n;
    MPI_Datatype none = argc > 1 && !strcmp(argv[1], "null") ? MPI_DATATYPE_NULL
                                                             : MPI_INT,
                 column;
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    static double out[2 * N], in[2 * N];
    int sends[n], recvs[n], at[n];
    MPI_Datatype sendtypes[n], recvtypes[n];
    for (int i = 0; i < n; i++) {
        sends[i] = recvs[i] = at[i] = 0;
        sendtypes[i] = recvtypes[i] = none;
    }
    sends[right] = recvs[left] = 1;
    sendtypes[right] = recvtypes[left] = column;
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 2 * N; i++) {
            out[i] = world_rank * 1e6 + round * 1e3 + i;
            in[i] = -1;
        }
        MPI_Alltoallw(out, sends, at, sendtypes, in, recvs, at, recvtypes,
                      MPI_COMM_WORLD);
        for (int i = 0; i < 2 * N; i++) {
            double want = i % 2 ? -1 : left * 1e6 + round * 1e3 + i;
            CHECK(in[i] == want, "element %d is %g, not %g", i, in[i], want);
        }
    }
    MPI_Type_free(&column);
    test_end();
}
