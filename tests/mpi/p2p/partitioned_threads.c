/*
 * partitioned_threads.c - partitions from several threads. The sender's threads
 * write theirs and tell that they are ready, while another thread of the rank
 * waits for the message. The receiver's threads look for theirs. Partitions end
 * in the middle of pages.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define PARTS 16
#define STARTS 40

static int me, count, start, *buffer;
static _Atomic int wrong;
static MPI_Request request;
static pthread_barrier_t gate;

static int value(int element)
{
    return start * 7919 + element;
}

static void send_parts(int thread)
{
    for (int part = thread; part < PARTS; part += THREADS) {
        for (int e = part * count; e < (part + 1) * count; e++)
            buffer[e] = value(e);
        MPI_Pready(part, request);
    }
}

static void receive_parts(int thread)
{
    for (int part = thread; part < PARTS; part += THREADS) {
        for (int flag = 0; !flag;)
            MPI_Parrived(request, part, &flag);
        for (int e = part * count; e < (part + 1) * count; e++)
            if (buffer[e] != value(e)) {
                wrong = 1;
                break;
            }
    }
}

static void *work(void *arg)
{
    int thread = (int)(size_t)arg;
    for (int i = 0; i < STARTS; i++) {
        pthread_barrier_wait(&gate);
        if (me == 0)
            send_parts(thread);
        else if (me == 1)
            receive_parts(thread);
        pthread_barrier_wait(&gate);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level, any;
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (level < MPI_THREAD_MULTIPLE) {
        if (me == 0)
            printf("no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    count = argc > 1 ? atoi(argv[1]) : 5003;
    buffer = malloc(sizeof(int) * PARTS * (size_t)count);
    if (me == 0)
        MPI_Psend_init(buffer, PARTS, count, MPI_INT, 1, 0, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(buffer, PARTS, count, MPI_INT, 0, 0, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    pthread_barrier_init(&gate, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, (void *)(size_t)i);
    for (start = 0; start < STARTS; start++) {
        MPI_Start(&request);
        pthread_barrier_wait(&gate);
        if (me == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        pthread_barrier_wait(&gate);
        if (me == 1)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    MPI_Request_free(&request);
    free(buffer);
    int mine = wrong;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (me == 0)
        printf(any ? "wrong data\n" : "all is well\n");
    MPI_Finalize();
    return any;
}
