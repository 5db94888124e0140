/*
 * regions.c - two regions whose ranks exchange with different partners: in
 * "phase 2" a rank's partner is half the ranks away, in "phase 3" beside it.
 */
#include <mpi.h>
#include <stdio.h>

static void exchange(char *out, char *in, int bytes, int peer)
{
    for (int i = 0; i < 20; i++)
        MPI_Sendrecv(out, bytes, MPI_BYTE, peer, 1, in, bytes, MPI_BYTE, peer,
                     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static char out[4096], in[4096];
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Pcontrol(2);
    exchange(out, in, 4096, (me + ranks / 2) % ranks);
    MPI_Pcontrol(-2);
    MPI_Pcontrol(3);
    exchange(out, in, 1024, me ^ 1);
    MPI_Pcontrol(-3);
    if (!me)
        puts("regions done");
    MPI_Finalize();
    return 0;
}
