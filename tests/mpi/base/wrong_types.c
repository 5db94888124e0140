/*
 * wrong_types.c - messages whose receivers give another type, of the same size
 * or not: three characters with gaps come where integers with gaps are awaited.
 *
 *   wrong_types FILE    what each receive has returned goes to FILE.RANK
 *
 * MPI leaves open what a receiver gets. No process may die of it.
 */
#include "mpi/test.h"

#define COUNT 4000

static void receive(FILE *log, int count, MPI_Datatype type, char *into,
                    int way)
{
    MPI_Status status;
    MPI_Request request;
    int rc, got = -1, class = MPI_SUCCESS;
    if (way == 0) {
        rc = MPI_Recv(into, count, type, 1, 5, MPI_COMM_WORLD, &status);
    } else {
        MPI_Irecv(into, count, type, MPI_ANY_SOURCE, MPI_ANY_TAG,
                  MPI_COMM_WORLD, &request);
        if (way == 2) /* it waits for its message */
            MPI_Send(NULL, 0, MPI_INT, 1, 6, MPI_COMM_WORLD);
        rc = MPI_Wait(&request, &status);
    }
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    else
        MPI_Get_count(&status, MPI_BYTE, &got);
    fprintf(log, "%d %d %d: class %d, %d bytes\n", count, way,
            status.MPI_SOURCE, class, got);
}

int main(int argc, char **argv)
{
    int ones[] = {1, 1, 1}, some[] = {1, 2, 1}, places[] = {4, 8, 16};
    MPI_Aint gaps[] = {0, 2, 4};
    MPI_Datatype chars[] = {MPI_CHAR, MPI_CHAR, MPI_CHAR}, scattered, indexed;
    char name[4096];
    test_start(&argc, &argv);
    snprintf(name, sizeof name, "%s.%d", argv[1], world_rank);
    FILE *log = fopen(name, "w");
    CHECK(log, "no file %s", name);
    MPI_Type_create_struct(3, ones, gaps, chars, &scattered);
    MPI_Type_indexed(3, some, places, MPI_INT, &indexed);
    MPI_Type_commit(&scattered);
    MPI_Type_commit(&indexed);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char *block = calloc(COUNT, 100);
    for (int sent = 1; sent <= COUNT; sent = sent == 1 ? COUNT : COUNT + 1)
        for (int room = 1; room <= COUNT; room += COUNT - 1)
            for (int way = 0; way < 3; way++) {
                MPI_Barrier(MPI_COMM_WORLD);
                if (world_rank == 0)
                    receive(log, room, indexed, block, way);
                if (world_rank == 1 && way == 2)
                    MPI_Recv(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
                if (world_rank == 1)
                    MPI_Send(block, sent, scattered, 0, 5, MPI_COMM_WORLD);
            }
    fclose(log);
    free(block);
    MPI_Type_free(&scattered);
    MPI_Type_free(&indexed);
    test_end();
    return 0;
}
