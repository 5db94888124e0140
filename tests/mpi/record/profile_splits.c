/*
 * profile_splits.c - communicators far down: splits of splits, with a copy in
 * between. A barrier on each.
 */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm from = MPI_COMM_WORLD, to;
    for (int i = 0; i < 12; i++) {
        if (i == 4)
            MPI_Comm_dup(from, &to);
        else
            MPI_Comm_split(from, 0, me, &to);
        if (from != MPI_COMM_WORLD)
            MPI_Comm_free(&from);
        from = to;
        MPI_Barrier(from);
    }
    MPI_Comm_free(&from);
    MPI_Finalize();
    if (!me)
        puts("all is well");
    return 0;
}
