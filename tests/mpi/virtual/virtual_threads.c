/*
 * virtual_threads.c - two ranks whose threads call MPI at once, each in a time
 * that is known by hand, whatever the others do; rank 0 prints "name_thread
 * nanoseconds". The model is that of virtual_times.c; messages are empty, so
 * that no thread takes a port from another.
 *
 *   virtual_threads [SPIN]   with it, threads wait for each other by looking
 */
#include "mpi/test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 5, PLACES = 16 };

static int me, other;
static bool spins;
static MPI_Comm comm[THREADS];
static double ended[THREADS];
static struct {
    const char *name;
    double took;
} measured[THREADS][PLACES];
static int count[THREADS];

/* A request that one thread posts and another waits for. */
static MPI_Request handed;
static double handed_at;
static pthread_barrier_t hand;
static _Atomic int there;

static void note(int thread, const char *name, double since)
{
    int i = count[thread]++;
    measured[thread][i].name = name;
    measured[thread][i].took = MPI_Wtime() - since;
}

static void send(int thread, int tag)
{
    MPI_Send(NULL, 0, MPI_CHAR, other, tag, comm[thread]);
}

static void receive(int thread, int tag)
{
    MPI_Recv(NULL, 0, MPI_CHAR, other, tag, comm[thread], MPI_STATUS_IGNORE);
}

/* A message to itself, 8 us. */
static void dawdle(int thread, int times)
{
    for (int i = 0; i < times; i++)
        MPI_Sendrecv(NULL, 0, MPI_CHAR, me, 99, NULL, 0, MPI_CHAR, me, 99,
                     comm[thread], MPI_STATUS_IGNORE);
}

/* Rank 1 answers each message of rank 0 by another. */
static bool answers(int thread, int tag)
{
    if (me == 0)
        return false;
    receive(thread, tag);
    send(thread, tag);
    return true;
}

static void ping_pong(int thread)
{
    double since = MPI_Wtime();
    for (int i = 0; i < ROUNDS * (thread + 1); i++) {
        if (answers(thread, i))
            continue;
        send(thread, i);
        receive(thread, i);
    }
    note(thread, "ping_pong", since);
}

static void nonblocking(int thread)
{
    MPI_Request r[2];
    double since = MPI_Wtime();
    if (!answers(thread, 1)) {
        MPI_Irecv(NULL, 0, MPI_CHAR, other, 1, comm[thread], &r[0]);
        MPI_Isend(NULL, 0, MPI_CHAR, other, 1, comm[thread], &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    note(thread, "nonblocking", since);
}

static void probing(int thread)
{
    MPI_Status status;
    double since = MPI_Wtime();
    if (!answers(thread, 2)) {
        send(thread, 2);
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm[thread], &status);
        CHECK(status.MPI_SOURCE == other && status.MPI_TAG == 2, "probe");
        receive(thread, 2);
    }
    note(thread, "probing", since);
}

static void matched_probing(int thread)
{
    MPI_Message message;
    double since = MPI_Wtime();
    if (!answers(thread, 3)) {
        send(thread, 3);
        MPI_Mprobe(other, 3, comm[thread], &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(NULL, 0, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    }
    note(thread, "matched_probing", since);
}

static void polling(int thread)
{
    int flag = 0;
    MPI_Request request;
    double since = MPI_Wtime();
    if (!answers(thread, 4)) {
        MPI_Irecv(NULL, 0, MPI_CHAR, other, 4, comm[thread], &request);
        send(thread, 4);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    note(thread, "polling", since);
}

static void poll_for_message(int thread)
{
    int flag = 0;
    MPI_Message message;
    double since = MPI_Wtime();
    if (!answers(thread, 5)) {
        send(thread, 5);
        while (!flag)
            MPI_Improbe(MPI_ANY_SOURCE, 5, comm[thread], &flag, &message,
                        MPI_STATUS_IGNORE);
        MPI_Mrecv(NULL, 0, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    }
    note(thread, "poll_for_message", since);
}

static void anybody(int thread)
{
    MPI_Status status;
    double since = MPI_Wtime();
    if (!answers(thread, 6)) {
        send(thread, 6);
        MPI_Recv(NULL, 0, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, comm[thread],
                 &status);
        CHECK(status.MPI_SOURCE == other && status.MPI_TAG == 6, "receive");
    }
    note(thread, "anybody", since);
}

/* The receiver comes 80 us late: only its sender waits for it. */
static void late_receiver(int thread)
{
    double since = MPI_Wtime();
    if (me == 0) {
        send(thread, 7);
        MPI_Ssend(NULL, 0, MPI_CHAR, other, 8, comm[thread]);
    } else {
        receive(thread, 7);
        dawdle(thread, 10);
        receive(thread, 8);
    }
    note(thread, "late_receiver", since);
}

static void collectives(int thread)
{
    int mine = thread, sum = 0;
    double since = MPI_Wtime();
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm[thread]);
    CHECK(sum == 2 * thread, "a sum of %d", sum);
    MPI_Barrier(comm[thread]);
    MPI_Request request;
    MPI_Ibarrier(comm[thread], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note(thread, "collectives", since);
}

static void meet(void)
{
    if (!spins) {
        pthread_barrier_wait(&hand);
        return;
    }
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) % 2)
        ;
}

/* Thread 0 of rank 0 posts a receive, and thread 1 waits for it. A thread that
 * has slept goes on no earlier than all others, so the message comes later than
 * that. */
static void hand_over(int thread)
{
    if (me == 1 && thread == 0) {
        receive(0, 9);
        dawdle(0, 40);
        send(0, 10);
    } else if (me == 0 && thread == 0) {
        handed_at = MPI_Wtime();
        MPI_Irecv(NULL, 0, MPI_CHAR, other, 10, comm[0], &handed);
        send(0, 9);
        meet();
    } else if (me == 0 && thread == 1) {
        meet();
        MPI_Wait(&handed, MPI_STATUS_IGNORE);
        note(0, "hand_over", handed_at);
    }
}

static void by_itself(int thread)
{
    ping_pong(thread);
    nonblocking(thread);
    probing(thread);
    matched_probing(thread);
    polling(thread);
    poll_for_message(thread);
    anybody(thread);
    late_receiver(thread);
    collectives(thread);
}

static void *work(void *of)
{
    int thread = (int)(intptr_t)of;
    by_itself(thread);
    if (thread < 2)
        hand_over(thread);
    ended[thread] = MPI_Wtime();
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, n;
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    CHECK(n == 2, "two ranks");
    if (provided < MPI_THREAD_MULTIPLE) {
        if (me == 0)
            printf("no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    other = 1 - me;
    spins = argc > 1;
    pthread_barrier_init(&hand, NULL, 2);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    /* Alone: to compare with, and so that no thread waits for the system to
     * bring what it has not touched before. */
    by_itself(0);
    double alone = measured[0][count[0] - 1].took;
    count[0] = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i);
    double last = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        last = ended[i] > last ? ended[i] : last;
    }
    double joined = MPI_Wtime();
    for (int i = 0; me == 0 && i < THREADS; i++)
        for (int k = 0; k < count[i]; k++)
            printf("%s_%d %.3f\n", measured[i][k].name, i,
                   measured[i][k].took * 1e9);
    if (me == 0) {
        printf("alone %.3f\n", alone * 1e9);
        printf("joined %.3f\n", joined > last ? (joined - last) * 1e9 : 0);
        printf("all is well\n");
    }
    MPI_Finalize();
    return 0;
}
