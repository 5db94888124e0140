/*
 * guarded.c - collectives of several sizes on several communicators, whose
 * results are known; some calls are refused on one member.
 *
 *   guarded CALLS
 */
#include "mpi/test.h"

enum { WORDS = 2000 };
static int in[WORDS], out[WORDS];

static void call(MPI_Comm comm, int i)
{
    int rank, n, words = i % 3 ? 1 + i % 2 : WORDS;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    for (int k = 0; k < words; k++)
        in[k] = rank + k + i;
    MPI_Allreduce(in, out, words, MPI_INT, MPI_MAX, comm);
    for (int k = 0; k < words; k++)
        CHECK(out[k] == n - 1 + k + i, "word %d of call %d", k, i);
    int root = i % n;
    for (int k = 0; k < words; k++)
        out[k] = rank == root ? root * i + k : -1;
    MPI_Bcast(out, words, MPI_INT, root, comm);
    for (int k = 0; k < words; k++)
        CHECK(out[k] == root * i + k, "word %d of bcast %d", k, i);
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    MPI_Comm dup, half, few;
    int value = 0, calls = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
    for (int i = 0; i < calls; i++) {
        call(MPI_COMM_WORLD, i);
        call(dup, i / 2);
        for (int k = 0; k <= world_rank % 2; k++)
            call(half, i + k);
        if (i % 50 == 7 && world_rank == i % world_size)
            CHECK(MPI_Bcast(&value, -1, MPI_INT, 0, dup) != MPI_SUCCESS,
                  "a count of -1 is wrong");
        if (i % 40 == 0) {
            MPI_Comm_dup(half, &few);
            for (int k = 0; k < 40; k++)
                call(few, k);
            MPI_Comm_free(&few);
        }
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    if (!world_rank)
        puts("all is well");
    MPI_Finalize();
    return 0;
}
