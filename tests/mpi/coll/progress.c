/*
 * progress.c - a rank that waits drives the host's progress. Rank 0 starts a
 * large host message and then waits in a collective; its peer needs the message
 * before it joins. A wait that does not drive the host would never end.
 */
#include "mpi/test.h"

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int n = 4 << 20, next = world_rank ^ 1;
    char *a = malloc((size_t)n), *b = malloc((size_t)n);
    for (int i = 0; i < 40; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int v = i, w;
        memset(a, i, (size_t)n);
        if (next < world_size) {
            if ((world_rank + i) % 2)
                MPI_Isend(a, n, MPI_CHAR, next, 1, MPI_COMM_WORLD, &request);
            else {
                MPI_Recv(b, n, MPI_CHAR, next, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
                CHECK(b[0] == (char)i && b[n - 1] == (char)i, "message %d", i);
            }
        }
        if (i % 3 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        else if (i % 3 == 1)
            MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, b, n / world_size,
                          MPI_CHAR, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    free(a);
    free(b);
    test_end();
}
