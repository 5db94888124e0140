/*
 * forgotten.c - what goes on without the program, and behind its waits.
 *
 *   forgotten freed      requests are freed while they are open, and then their
 *                        datatypes
 *   forgotten cancelled  the buffer of a cancelled receive stays as it was
 *   forgotten behind     an operation of the MPI's goes on while a rank waits
 *                        for a message, after it has freed its communicator
 *
 * Two ranks.
 */
#include "mpi/test.h"

static const int counts[] = {3, 500, 5000, 200000};

/* An irregular list: each entry is one to three cells behind the last. */
static int step(int i)
{
    return 1 + i * 7919 % 3 + 1;
}

static MPI_Datatype list_of(int n)
{
    int *place = malloc((size_t)n * sizeof *place);
    MPI_Datatype type;
    for (int i = 0, at = 0; i < n; at += step(i++))
        place[i] = at;
    MPI_Type_create_indexed_block(n, 1, place, MPI_INT, &type);
    MPI_Type_commit(&type);
    free(place);
    return type;
}

/* Other datatypes take the memory of those that are gone. */
static void make_others(void)
{
    for (int i = 0; i < 50; i++) {
        MPI_Datatype other = list_of(10 + i);
        MPI_Type_free(&other);
    }
}

static int *cells_of(int n)
{
    int *cells = malloc((size_t)(4 * n + 8) * sizeof *cells);
    for (int i = 0; i < 4 * n + 8; i++)
        cells[i] = world_rank ? i : -1;
    return cells;
}

static void check_cells(const int *cells, int n, int round)
{
    int flag, last = 0;
    for (int i = 0; i < n - 1; i++)
        last += step(i);
    for (long turn = 0;
         turn < 5000000 && ((volatile const int *)cells)[last] != last; turn++)
        MPI_Iprobe(1, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    for (int i = 0, at = 0; i < n; at += step(i++))
        CHECK(cells[at] == at, "%d entries, round %d: cell %d has %d", n, round,
              at, cells[at]);
}

static void freed(int n, int round)
{
    int *cells = cells_of(n);
    MPI_Datatype type = list_of(n);
    MPI_Request request;
    if (world_rank == 0) {
        MPI_Irecv(cells, 1, type, 1, 5, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    MPI_Type_free(&type);
    make_others();
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 1) {
        type = list_of(n);
        MPI_Isend(cells, 1, type, 0, 5, MPI_COMM_WORLD, &request);
        if (round % 2)
            MPI_Request_free(&request);
        MPI_Type_free(&type);
        make_others();
        if (round % 2 == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        check_cells(cells, n, round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(cells);
}

static void cancelled(int n, int round)
{
    if (world_rank)
        return;
    int *cells = cells_of(n), flag;
    MPI_Datatype type = list_of(n);
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(cells, 1, type, 1, 6, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag, "round %d: not cancelled", round);
    for (int i = 0; i < 4 * n + 8; i++)
        CHECK(cells[i] == -1, "round %d: cell %d has %d", round, i, cells[i]);
    MPI_Type_free(&type);
    free(cells);
}

static void behind(int round)
{
    MPI_Comm used, made;
    MPI_Request making, message;
    int got = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &used);
    MPI_Barrier(used);
    MPI_Comm_free(&used);
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &making);
    if (world_rank == 0) {
        MPI_Wait(&making, MPI_STATUS_IGNORE);
        MPI_Send(&round, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &message);
        MPI_Wait(&message, MPI_STATUS_IGNORE);
        CHECK(got == round, "%d, not %d", got, round);
        MPI_Wait(&making, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    for (int round = 0; round < 24; round++) {
        int n = counts[(size_t)round / 6];
        if (!strcmp(what, "freed"))
            freed(n, round);
        else if (!strcmp(what, "cancelled"))
            cancelled(n, round);
        else
            behind(round);
    }
    test_end();
}
