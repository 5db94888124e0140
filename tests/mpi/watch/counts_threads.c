/*
 * counts_threads.c - several threads begin and complete requests at once.
 *
 * Usage: counts_threads ROUNDS
 *
 * Two ranks. Each round has a new communicator, whose pairs are new, and each
 * thread sends and receives messages with a tag of its own. At the end each
 * rank prints what it has sent and received, as counts.c does, and waits until
 * it is killed. A host without MPI_THREAD_MULTIPLE has no round.
 */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, MESSAGES = 3 };

static MPI_Comm comm;
static int me, rounds;
static pthread_barrier_t together;

static void wait_for_all(int n, MPI_Request *requests, int how)
{
    int done = 0, at;
    if (how == 0)
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    while (how == 1 && !done)
        MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
    for (int i = 0; how == 2 && i < n; i++)
        MPI_Waitany(n, requests, &at, MPI_STATUS_IGNORE);
}

static void exchange(int tag, int round)
{
    MPI_Request requests[2 * MESSAGES];
    static int out, in[THREADS][MESSAGES];
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(&in[tag][i], 1, MPI_INT, i ? 1 - me : MPI_ANY_SOURCE, tag,
                  comm, &requests[i]);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(&out, 1, MPI_INT, 1 - me, tag, comm, &requests[MESSAGES + i]);
    wait_for_all(2 * MESSAGES, requests, (round + tag) % 3);
}

static void *run(void *tag)
{
    for (int round = 0; round < rounds; round++) {
        pthread_barrier_wait(&together);
        exchange((int)(long)tag, round);
        pthread_barrier_wait(&together);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    rounds = level == MPI_THREAD_MULTIPLE ? atoi(argv[1]) : 0;
    pthread_barrier_init(&together, NULL, THREADS + 1);
    for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, run, (void *)(long)t);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_name(comm, "second");
        pthread_barrier_wait(&together);
        pthread_barrier_wait(&together);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS && rounds; t++) {
        printf("sent %d 1 %d %d %d\n", me, 1 - me, t, rounds * MESSAGES);
        printf("got %d 1 %d %d %d\n", me, 1 - me, t, rounds * MESSAGES);
    }
    printf("ready %d\n", me);
    fflush(stdout);
    for (int waited = 0; waited < 600 && getppid() != 1; waited++)
        usleep(100000);
    MPI_Finalize();
    return 0;
}
