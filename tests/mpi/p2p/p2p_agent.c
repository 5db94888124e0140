/*
 * p2p_agent.c - a rank that makes no MPI call gets its messages all the same.
 *
 *   p2p_agent
 *
 * Rank 1 posts receives for messages that are there already, so that the host
 * matches them at once, and then calls nothing: it watches the ends of its
 * buffers (what MPI forbids a program, and a test may do) until the agent has
 * filled them. Rank 0 waits for its sends meanwhile. Run without an agent, it
 * fails.
 */
#include "mpi/test.h"

#define MESSAGES 20
#define BYTES (300 << 10)
#define BOUND 10                /* seconds                                   */

static char *buffer[MESSAGES];

static char last_of(int i) { return (char)(i + 1); }

static void sender(void)
{
    MPI_Request request[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        memset(buffer[i], last_of(i), BYTES);
        MPI_Isend(buffer[i], BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD,
                  &request[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
}

static bool filled(int i)
{
    return ((volatile char *)buffer[i])[BYTES - 1] == last_of(i);
}

static void receiver(void)
{
    MPI_Request request[MESSAGES];
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(20000);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(buffer[i], BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD,
                  &request[i]);
    for (int i = 0; i < MESSAGES; i++)
        for (int ms = 0; !filled(i); ms++) {
            CHECK(ms < 1000 * BOUND, "message %d has not come in %d s", i,
                  BOUND);
            usleep(1000);
        }
    MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        for (int k = 0; k < BYTES; k++)
            CHECK(buffer[i][k] == last_of(i), "message %d is wrong at %d", i,
                  k);
}

int main(int argc, char **argv)
{
    alarm(60);
    test_start(&argc, &argv);
    for (int i = 0; i < MESSAGES; i++)
        buffer[i] = calloc(1, BYTES);
    if (world_rank == 0)
        sender();
    else if (world_rank == 1)
        receiver();
    test_end();
}
