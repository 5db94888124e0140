/*
 * profile_paused.c - calls from places of their own, some of them while the
 * profile is switched off.
 */
#include <mpi.h>

#include <stdio.h>

static int me, n;

#define CALL (void)MPI_Comm_rank(MPI_COMM_WORLD, &me);

int main(int argc, char **argv)
{
    int in = 1, out, flag;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Pcontrol(0);
    CALL CALL CALL CALL CALL CALL CALL CALL MPI_Allreduce(
        &in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Irecv(&out, 1, MPI_INT, (me + n - 1) % n, 3, MPI_COMM_WORLD, &r);
    MPI_Send(&in, 1, MPI_INT, (me + 1) % n, 3, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Pcontrol(1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        puts("all is well");
    MPI_Finalize();
    return 0;
}
