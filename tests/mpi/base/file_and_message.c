/*
 * file_and_message.c - rank 0 waits at once for a message and for a collective
 * write, which the rank that sends the message needs first.
 *
 * Usage: file_and_message FILE
 *
 * Some hosts go on with such a write only in calls that name its request.
 */
#include <mpi.h>

#include <stdio.h>

enum { BLOCK = 1 << 16, ROUNDS = 3 };

static char block[BLOCK];

static void round_of(MPI_File file, int me, int n, int others_first)
{
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[3];
    int got = -1, value = 7, at = others_first ? 2 : 1;
    MPI_File_iwrite_at_all(file, (MPI_Offset)me * BLOCK, block, BLOCK, MPI_BYTE,
                           &r[me ? 0 : at]);
    if (me) {
        MPI_Wait(&r[0], &s[0]);
        if (me == n - 1)
            MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        return;
    }
    MPI_Irecv(&got, 1, MPI_INT, n - 1, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Waitall(3, r, s);
    int bytes = 0;
    MPI_Get_count(&s[at], MPI_BYTE, &bytes);
    if (got != value || s[0].MPI_SOURCE != n - 1 || bytes != BLOCK ||
        r[at] != MPI_REQUEST_NULL) {
        printf("wrong: got %d from %d, %d bytes written\n", got,
               s[0].MPI_SOURCE, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int me, n;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_File_open(MPI_COMM_WORLD, argv[1],
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    for (int i = 0; i < ROUNDS; i++) {
        round_of(file, me, n, i % 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
    if (me == 0)
        printf("all written\n");
    MPI_Finalize();
    return 0;
}
