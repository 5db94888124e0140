/*
 * unhelped.c - collectives go on while a member waits for a message.
 *
 *   unhelped send | ssend | rendezvous | recv | probe | mprobe | sendrecv
 *
 * Every rank starts more collectives than can be under way in shared memory at
 * a time. Rank 1 completes them before it takes part in a message of rank 0's,
 * which waits for that.
 */
#include "mpi/test.h"

#define STARTED 60
#define LARGE (1 << 20)

int main(int argc, char **argv)
{
    static char out[LARGE], in[LARGE];
    MPI_Request q[STARTED];
    MPI_Message message;
    test_start(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "";
    bool sends = !strcmp(how, "send") || !strcmp(how, "ssend") ||
                 !strcmp(how, "rendezvous") || !strcmp(how, "sendrecv");
    bool receives = !sends || !strcmp(how, "sendrecv");
    int n = strcmp(how, "rendezvous") ? 100 : LARGE;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < STARTED; i++)
            MPI_Ibarrier(MPI_COMM_WORLD, &q[i]);
        memset(out, round, sizeof out);
        if (world_rank == 1) {
            MPI_Waitall(STARTED, q, MPI_STATUSES_IGNORE);
            if (sends)
                MPI_Recv(in, n, MPI_CHAR, 0, 7, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            if (receives)
                MPI_Send(out, n, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
            continue;
        }
        if (!strcmp(how, "ssend"))
            MPI_Ssend(out, n, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        else if (!strcmp(how, "sendrecv"))
            MPI_Sendrecv(out, n, MPI_CHAR, 1, 7, in, n, MPI_CHAR, 1, 7,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (sends)
            MPI_Send(out, n, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        if (!strcmp(how, "probe"))
            MPI_Probe(1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(how, "mprobe")) {
            MPI_Mprobe(1, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(in, n, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        } else if (receives && sends == 0) {
            MPI_Recv(in, n, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        CHECK(!receives || (in[0] == round && in[n - 1] == round),
              "a message of round %d", round);
        MPI_Waitall(STARTED, q, MPI_STATUSES_IGNORE);
    }
    test_end();
}
