/*
 * profile_devices.c - calls whose buffers lie in a GPU's memory, on one side or
 * on both. The program notes them, as a profile must have them.
 *
 *     profile_devices DRIVER FOLDER
 *
 * FOLDER/devices.RANK has a line for each call: the procedure, the bytes from
 * the GPU's memory and to it, and the pieces of datatypes with gaps.
 */
#define _GNU_SOURCE
#include "mpi/base/device_memory.h"

#define N 300
#define BYTES (N * (long)sizeof(int))
#define PIECES 50
#define GAPS (PIECES * (long)sizeof(double))
#define ROOM 16384

static FILE *notes;
static void *device[2], *plain[2];
static MPI_Datatype gaps;

static void note(const char *name, long sent, long received, long pieces)
{
    fprintf(notes, "MPI_%s %ld %ld %ld\n", name, sent, received, pieces);
}

static void messages(int other)
{
    MPI_Request q[2];
    for (int i = 0; i < 10; i++)
        if (world_rank == 0) {
            MPI_Send(device[0], N, MPI_INT, 1, 1, MPI_COMM_WORLD);
            note("Send", BYTES, 0, 0);
        } else {
            MPI_Recv(device[1], N, MPI_INT, 0, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            note("Recv", 0, BYTES, 0);
        }
    MPI_Irecv(device[1], 2, gaps, other, 2, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(device[0], 2, gaps, other, 2, MPI_COMM_WORLD, &q[1]);
    note("Isend", 2 * GAPS, 0, 2 * PIECES);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    note("Waitall", 0, 2 * GAPS, 2 * PIECES);
    MPI_Sendrecv(device[0], N, MPI_INT, other, 3, plain[1], N, MPI_INT, other,
                 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    note("Sendrecv", BYTES, 0, 0);
    MPI_Sendrecv(plain[0], N, MPI_INT, other, 3, plain[1], N, MPI_INT, other, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(device[0], N, MPI_INT, MPI_PROC_NULL, 3, device[1], N, MPI_INT,
                 MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 sends from a GPU to ordinary memory, and rank 1 the other way. */
static void persistent(int other)
{
    MPI_Request q[2];
    void *out = world_rank ? plain[0] : device[0];
    void *in = world_rank ? plain[1] : device[1];
    MPI_Send_init(out, 1, gaps, other, 4, MPI_COMM_WORLD, &q[0]);
    MPI_Recv_init(in, 1, gaps, other, 4, MPI_COMM_WORLD, &q[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&q[1]);
        MPI_Start(&q[0]);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        if (world_rank == 0) {
            note("Start", GAPS, 0, PIECES);
            note("Wait", 0, GAPS, PIECES);
        }
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
}

static void collectives(void)
{
    MPI_Bcast(world_rank ? plain[0] : device[0], N, MPI_INT, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        note("Bcast", BYTES, 0, 0);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, device[1], N, MPI_INT,
                  MPI_COMM_WORLD);
    note("Allgather", BYTES, 2 * BYTES, 0);
    MPI_Allreduce(device[0], plain[1], N, MPI_INT, MPI_BAND, MPI_COMM_WORLD);
    note("Allreduce", BYTES, 0, 0);
    MPI_Allreduce(MPI_IN_PLACE, device[1], N, MPI_INT, MPI_BAND,
                  MPI_COMM_WORLD);
    note("Allreduce", BYTES, BYTES, 0);
    MPI_Gather(device[0], 1, gaps, plain[1], 1, gaps, 0, MPI_COMM_WORLD);
    note("Gather", GAPS, 0, PIECES);
    MPI_Alltoall(device[0], 1, gaps, device[1], 1, gaps, MPI_COMM_WORLD);
    note("Alltoall", 2 * GAPS, 2 * GAPS, 4 * PIECES);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    char path[4096];
    test_start(&argc, &argv);
    snprintf(path, sizeof path, "%s/devices.%d", argv[2], world_rank);
    notes = fopen(path, "w");
    CHECK(notes, "%s cannot be written", path);
    device_start(argv[1]);
    for (int i = 0; i < 2; i++) {
        device[i] = device_allocate(ROOM + DEVICE_OPEN, 0);
        plain[i] = calloc(1, ROOM);
        CHECK(device[i] && plain[i], "no memory");
    }
    MPI_Type_vector(PIECES, 1, 2, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    messages(1 - world_rank);
    persistent(1 - world_rank);
    collectives();
    MPI_Type_free(&gaps);
    fclose(notes);
    device_close();
    test_end();
    return 0;
}
