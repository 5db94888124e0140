/*
 * traced_collectives.c - on four ranks, the collectives of which a trace must
 * say more than their call: persistent ones, those among neighbours, those
 * between groups. test_traced_collectives.py knows what they are.
 */
#include "mpi/test.h"

static void persistent(void)
{
#if MPI_VERSION >= 4
    static int a[100];
    static double x[50], y[50];
    MPI_Request r[2];
    MPI_Bcast_init(a, 100, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Allreduce_init(x, y, 50, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &r[1]);
    MPI_Start(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
#endif
}

/* A line of ranks, whose ends have one neighbour. */
static void neighbours(void)
{
    int dims = world_size, periods = 0, to[20] = {0}, from[20];
    double one[6] = {0}, two[12];
    MPI_Comm line;
    MPI_Request r;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &line);
    MPI_Neighbor_alltoall(to, 10, MPI_INT, from, 10, MPI_INT, line);
    MPI_Ineighbor_allgather(one, 6, MPI_DOUBLE, two, 6, MPI_DOUBLE, line, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    MPI_Neighbor_alltoall_init(to, 10, MPI_INT, from, 10, MPI_INT, line,
                               MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
#endif
    MPI_Comm_free(&line);
}

/* Rank 0 and the others. */
static void groups(void)
{
    int side = world_rank > 0, a[30] = {0}, b[30] = {0};
    MPI_Comm local, inter;
    MPI_Request r;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, !side, 23, &inter);
    MPI_Barrier(inter);
    MPI_Bcast(a, 20, MPI_INT, side ? 0 : MPI_ROOT, inter);
    /* To the world's rank 2, from rank 0. */
    MPI_Reduce(a, b, 7, MPI_INT, MPI_SUM,
               !side             ? 1
               : world_rank == 2 ? MPI_ROOT
                                 : MPI_PROC_NULL,
               inter);
    MPI_Allgather(a, side ? 2 : 6, MPI_INT, b, side ? 6 : 2, MPI_INT, inter);
    MPI_Alltoall(a, 4, MPI_INT, b, 4, MPI_INT, inter);
    MPI_Iallreduce(a, b, 3, MPI_INT, MPI_SUM, inter, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    persistent();
    neighbours();
    groups();
    if (world_rank == 0)
        printf("all is well%s\n", MPI_VERSION >= 4 ? ", persistent" : "");
    MPI_Finalize();
    return 0;
}
