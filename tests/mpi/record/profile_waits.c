/*
 * profile_waits.c - waits that are built in.
 *
 * In each case rank 1 waits for rank 0, which is a tenth of a second late. Each
 * case is a region of its own, named after it. Usage: profile_waits, 2 ranks.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <unistd.h>

#include "straightway.h"

static int me;
static double a[300000], b[300000];

/* Both come here together; rank 0 then sleeps. */
static void scene(const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
    straightway_region_begin(name);
    if (me == 0)
        usleep(100000);
}

static void over(void)
{
    straightway_region_end(NULL);
}

int main(int argc, char **argv)
{
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);

    scene("barrier");
    MPI_Barrier(MPI_COMM_WORLD);
    over();
    scene("allreduce");
    MPI_Allreduce(a, b, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    over();
    scene("bcast from the late");
    MPI_Bcast(a, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    over();
    scene("gather from the late");
    MPI_Gather(a, 10, MPI_DOUBLE, b, 10, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    over();
    scene("late sender");
    if (me == 0)
        MPI_Send(a, 10, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(b, 10, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    over();
    scene("late sender, any");
    if (me == 0)
        MPI_Send(a, 10, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(b, 10, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    over();
    scene("late sender, waited for");
    if (me == 0) {
        MPI_Send(a, 10, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(b, 10, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &r);
        MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);
    }
    over();
    scene("late receiver");
    if (me == 0)
        MPI_Recv(b, 300000, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    else
        MPI_Ssend(a, 300000, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    over();
    scene("late sendrecv");
    MPI_Sendrecv(a, 10, MPI_DOUBLE, !me, 1, b, 10, MPI_DOUBLE, !me, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    over();
    scene("late ibarrier");
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    over();
    /* What one did while it paused has been followed. */
    if (me == 1)
        MPI_Pcontrol(0);
    for (int i = 0; i < 5; i++) {
        MPI_Sendrecv(a, 10, MPI_DOUBLE, !me, 1, b, 10, MPI_DOUBLE, !me, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(a, b, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (me == 1)
        MPI_Pcontrol(1);
    scene("late after a pause");
    if (me == 0)
        MPI_Send(a, 10, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(b, 10, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    over();
    scene("late for a sum after a pause");
    MPI_Allreduce(a, b, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    over();
    /* Rank 1 waits for no rank: it has a message to send, and no more. */
    scene("nobody");
    if (me == 0)
        MPI_Recv(b, 10, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(a, 10, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    over();
    /* Here no rank waits, but the data take long to move. */
    MPI_Pcontrol(7);
    for (int i = 0; i < 200; i++)
        MPI_Sendrecv(a, 300000, MPI_DOUBLE, !me, 1, b, 300000, MPI_DOUBLE, !me,
                     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Pcontrol(-7);
    MPI_Finalize();
    if (me == 0)
        puts("all is well");
    return 0;
}
