/*
 * virtual_silent.c - three ranks. Rank 0 is in a call that virtual time does
 * not model, and waits there for rank 1. Rank 1 first asks for the time. The
 * answer depends on what rank 0 might have done before.
 */
#include "mpi/test.h"

int main(int argc, char **argv)
{
    int me;
    char data[1000] = {0};
    double began, now = 0;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    CHECK(argc > 1, "a file to be written");
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
    if (me == 2) {
        for (int i = 0; i < 10; i++)
            MPI_Sendrecv(data, 0, MPI_CHAR, 2, 0, data + 1, 0, MPI_CHAR, 2, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, sizeof data, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    } else if (me == 1) {
        MPI_Recv(data, sizeof data, MPI_CHAR, 2, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        now = MPI_Wtime();
    }
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY,
                  MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    if (me == 1)
        printf("asked %.3f\nall is well\n", (now - began) * 1e9);
    MPI_Finalize();
    return 0;
}
