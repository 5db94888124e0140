/*
 * left_alone.c - nonblocking collectives with aliased buffers, which no rank
 * completes.
 *
 * The program is wrong: the root alone begins the first ones, with one buffer
 * to send and to receive, and no rank completes any. MPICH raises an error at
 * each; Open MPI takes them, and ends. So must we.
 */
#include "mpi/test.h"

#define EACH 2

int main(int argc, char **argv)
{
    MPI_Request r;
    test_start(&argc, &argv);
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int n = world_size, me = world_rank, refused = 0, begun = 0;
    int *a = malloc((size_t)(n * EACH) * sizeof *a);
    int *counts = malloc((size_t)n * sizeof *counts);
    int *places = malloc((size_t)n * sizeof *places);
    MPI_Datatype *types = malloc((size_t)n * sizeof *types);
    for (int i = 0; i < n; i++) {
        a[EACH * i] = a[EACH * i + 1] = i;
        counts[i] = EACH;
        places[i] = i * EACH;
        types[i] = MPI_INT;
    }
#define BEGIN(CALL) ((CALL) == MPI_SUCCESS ? begun++ : refused++)
    if (me == 0) {
        BEGIN(MPI_Igather(a, EACH, MPI_INT, a, EACH, MPI_INT, 0, comm, &r));
        BEGIN(MPI_Igatherv(a, EACH, MPI_INT, a, counts, places, MPI_INT, 0,
                           comm, &r));
        BEGIN(MPI_Iscatter(a, EACH, MPI_INT, a, EACH, MPI_INT, 0, comm, &r));
        BEGIN(MPI_Iscatterv(a, counts, places, MPI_INT, a, EACH, MPI_INT, 0,
                            comm, &r));
    }
    BEGIN(MPI_Iallgather(&a[me], 1, MPI_INT, a, 1, MPI_INT, comm, &r));
    BEGIN(MPI_Iallgatherv(&a[me * EACH], EACH, MPI_INT, a, counts, places,
                          MPI_INT, comm, &r));
    BEGIN(MPI_Ialltoall(a, EACH, MPI_INT, a, EACH, MPI_INT, comm, &r));
    BEGIN(MPI_Ialltoallv(a, counts, places, MPI_INT, a, counts, places, MPI_INT,
                         comm, &r));
    BEGIN(MPI_Ialltoallw(a, counts, places, types, a, counts, places, types,
                         comm, &r));
    if (me == 0)
        BEGIN(MPI_Ireduce(a, a, EACH, MPI_INT, MPI_SUM, 0, comm, &r));
    BEGIN(MPI_Iallreduce(a, a, EACH, MPI_INT, MPI_SUM, comm, &r));
    BEGIN(MPI_Ireduce_scatter(a, a, counts, MPI_INT, MPI_SUM, comm, &r));
    BEGIN(MPI_Ireduce_scatter_block(a, a, EACH, MPI_INT, MPI_SUM, comm, &r));
    BEGIN(MPI_Iscan(a, a, EACH, MPI_INT, MPI_SUM, comm, &r));
    BEGIN(MPI_Iexscan(a, a, EACH, MPI_INT, MPI_SUM, comm, &r));
    int all = 0;
    MPI_Reduce(&refused, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    printf("rank %d: %d refused, %d begun\n", me, refused, begun);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
