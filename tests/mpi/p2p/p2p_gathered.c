/*
 * p2p_gathered.c - short messages with gaps to a receiver that is late.
 *
 * Their sender waits for no receiver: a receive without gaps is not looked
 * after for the sake of messages that are so short (mpi/p2p/fetch.h).
 */
#include "mpi/test.h"

#define ROUNDS 5
#define PIECES 50 /* of 128 bytes: 6400 */

int main(int argc, char **argv)
{
    MPI_Datatype type;
    MPI_Request request[ROUNDS];
    char *data, in[ROUNDS][PIECES * 128];
    test_start(&argc, &argv);
    MPI_Alloc_mem(PIECES * 256, MPI_INFO_NULL, &data);
    MPI_Type_vector(PIECES, 128, 256, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    if (world_rank == 1)
        for (int i = 0; i < ROUNDS; i++)
            MPI_Irecv(in[i], sizeof in[i], MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                      &request[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        for (int i = 0; i < ROUNDS; i++) {
            fill_from(data, PIECES * 256, (uint64_t)i);
            MPI_Send(data, 1, type, 1, 1, MPI_COMM_WORLD);
        }
    else
        usleep(50000);
    if (world_rank == 1) {
        MPI_Waitall(ROUNDS, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < ROUNDS; i++) {
            fill_from(data, PIECES * 256, (uint64_t)i);
            for (int k = 0; k < PIECES; k++)
                CHECK(!memcmp(in[i] + k * 128, data + k * 256, 128),
                      "message %d, piece %d", i, k);
        }
    }
    MPI_Free_mem(data);
    MPI_Type_free(&type);
    test_end();
}
