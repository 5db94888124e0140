/*
 * virtual_gives.c - blocks that are given away, whose virtual time is known by
 * hand: rank 1 prints what it took from the beginning until it had each,
 * "name_9 nanoseconds".
 */
#include <straightway_mpi.h>

#include "stopwatch.h"

static int me;

static void one(const char *name, size_t bytes)
{
    void *block = NULL;
    if (me == 0) {
        straightway_alloc(bytes, &block);
        memset(block, 7, bytes);
    }
    begin();
    if (me == 0)
        straightway_give(&block, bytes, 1, 3, MPI_COMM_WORLD);
    else
        straightway_take(&block, &bytes, 0, 3, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    end_each(name);
    if (me && ((char *)block)[bytes - 1] != 7)
        printf("wrong: %s\n", name);
    free(block);
}

int main(int argc, char **argv)
{
    char sent[8192] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    one("large", 1 << 20);
    one("middle", 8192);
    one("small", 1000);
    /* A send of as many bytes is none, although it follows a give. */
    begin();
    if (me == 0)
        MPI_Send(sent, 8192, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    else
        MPI_Recv(sent, 8192, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end_each("sent");
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
