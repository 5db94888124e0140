/*
 * A hang of a partitioned message (see hangs.h), for an MPI 4.
 */
#include "hangs.h"

/* A rank makes three of four partitions ready, and waits. */
static void partitions(void)
{
    MPI_Request request;
    if (me == 0) {
        MPI_Psend_init(big, 4, 256, MPI_BYTE, 1, 6, W, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (int i = 0; i < 3; i++)
            MPI_Pready(i, request);
        /* HERE partitions 0 */
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Precv_init(other, 4, 256, MPI_BYTE, 0, 6, W, MPI_INFO_NULL,
                       &request);
        MPI_Start(&request);
        /* HERE partitions 1 */
        MPI_Wait(&request, IGNORE);
    }
}

int main(int argc, char **argv)
{
    static const kind_t kinds[] = {KIND(partitions)};
    HANG(argc, argv, kinds);
}
