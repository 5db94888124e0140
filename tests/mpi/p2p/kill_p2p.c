/*
 * kill_p2p.c - one rank goes away inside a stream of large messages.
 *
 *   kill_p2p WHO SEED     WHO: sender | receiver | both (they exchange)
 *
 * The job must end by itself about as fast as the host ends it; this program
 * never ends well. The moment is drawn from SEED, and falls inside a message
 * as likely as between two: another thread counts it out.
 */
#include "mpi/test.h"
#include <pthread.h>
#include <signal.h>

static useconds_t delay;

static void *end_it(void *unused)
{
    (void)unused;
    usleep(delay);
    raise(SIGKILL);
    return NULL;
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    const char *who = argc > 1 ? argv[1] : "sender";
    rng_t r = rng_from((uint64_t)argument(argc, argv, 2, 1));
    int n = 2 << 20, other = world_rank ^ 1;
    bool exchange = !strcmp(who, "both"), sender = world_rank % 2 == 0;
    char *a = calloc(1, (size_t)n), *b = calloc(1, (size_t)n);
    int victim = !strcmp(who, "receiver");
    delay = (useconds_t)(20000 + rng_below(&r, 100000));
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == victim) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_it, NULL);
    }
    for (long i = 0;; i++) {
        int k = i % 3 ? n : 20000;
        if (other >= world_size)
            MPI_Barrier(MPI_COMM_SELF);
        else if (exchange)
            MPI_Sendrecv(a, k, MPI_CHAR, other, 1, b, k, MPI_CHAR, other, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (sender && i % 2)
            MPI_Ssend(a, k, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        else if (sender)
            MPI_Send(a, k, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(b, k, MPI_CHAR, other, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}
