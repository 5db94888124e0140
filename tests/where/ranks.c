/*
 * Hangs whose cause is outside MPI: a rank that computes, sleeps, has stopped,
 * has ended, or whose threads wait for each other (see hangs.h).
 */
#include "hangs.h"
#include <pthread.h>
#include <signal.h>

static int one = 1, sum;
static volatile int never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* One rank computes without end. */
static void user_loop(void)
{
    if (me == 1) {
        /* HERE user_loop 1 */
        while (!never) {
        }
    }
    /* HERE user_loop 0,2 */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, W);
}

/* One rank sleeps again and again. */
static void user_sleep(void)
{
    if (me == 1) {
        /* HERE user_sleep 1 */
        SLEEP_ON;
    }
    /* HERE user_sleep 0,2 */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, W);
}

/* One rank reads from a pipe that nobody writes to. */
static void user_read(void)
{
    int ends[2];
    char byte;
    if (me == 1 && pipe(ends) == 0) {
        /* HERE user_read 1 */
        never += (int)read(ends[0], &byte, 1);
    }
    /* HERE user_read 0,2 */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, W);
}

/* One rank is stopped by a signal. */
static void stopped(void)
{
    if (me == 1) {
        /* HERE stopped 1 */
        raise(SIGSTOP);
    }
    /* HERE stopped 0,2 */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, W);
}

/* One rank is killed. The test starts each rank below a shell, which lives on,
 * so that the launcher does not notice. */
static void killed(void)
{
    if (me == 1)
        raise(SIGKILL);
    /* HERE killed 0,2 */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, W);
}

/* One rank is late for MPI_Init. */
static void late_init(void)
{
    const char *rank = getenv("PMI_RANK");
    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    ready();
    if (rank && atoi(rank) == 1) {
        /* HERE late_init 1 */
        SLEEP_ON;
    }
    /* HERE late_init 0 */
    MPI_Init(NULL, NULL);
    /* HERE late_init 0 */
    MPI_Barrier(W);
}

static void *receive(void *nothing)
{
    /* HERE thread 0 */
    MPI_Recv(other, 8, MPI_BYTE, 1, 7, W, IGNORE);
    return nothing;
}

/* A thread waits for a message that another rank never sends. */
static void thread(void)
{
    pthread_t id;
    if (me == 0) {
        pthread_create(&id, NULL, receive, NULL);
        /* HERE thread 0 */
        pthread_join(id, NULL);
    }
    /* HERE thread 1 */
    MPI_Barrier(W);
}

static void *signal_early(void *nothing)
{
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return nothing;
}

/* A thread gives its signal before the main thread waits for it, and the main
 * thread never sends. */
static void lost_wakeup(void)
{
    pthread_t id;
    if (me == 1) {
        pthread_create(&id, NULL, signal_early, NULL);
        pthread_join(id, NULL);
        pthread_mutex_lock(&mutex);
        /* HERE lost_wakeup 1 */
        pthread_cond_wait(&changed, &mutex);
        MPI_Send(big, 8, MPI_BYTE, 0, 1, W);
    }
    /* HERE lost_wakeup 0 */
    MPI_Recv(other, 8, MPI_BYTE, 1, 1, W, IGNORE);
}

static void *receive_locked(void *nothing)
{
    pthread_mutex_lock(&mutex);
    never++;
    /* HERE locked_receive 0 */
    MPI_Recv(other, 8, MPI_BYTE, 1, 1, W, IGNORE);
    pthread_mutex_unlock(&mutex);
    return nothing;
}

/* A thread keeps a mutex while it waits for an answer, and the main thread
 * needs the mutex to ask. */
static void locked_receive(void)
{
    pthread_t id;
    if (me == 1) {
        /* HERE locked_receive 1 */
        MPI_Recv(other, 8, MPI_BYTE, 0, 2, W, IGNORE);
        MPI_Send(big, 8, MPI_BYTE, 0, 1, W);
    }
    pthread_create(&id, NULL, receive_locked, NULL);
    while (!never)
        usleep(1000);
    /* HERE locked_receive 0 */
    pthread_mutex_lock(&mutex);
    MPI_Send(big, 8, MPI_BYTE, 1, 2, W);
}

int main(int argc, char **argv)
{
    static const kind_t kinds[] = {
        KIND(user_loop),      KIND(user_sleep),
        KIND(user_read),      KIND(stopped),
        KIND(killed),         THREADS(thread),
        THREADS(lost_wakeup), THREADS(locked_receive),
    };
    /* This one begins MPI itself. */
    if (argc > 1 && !strcmp(argv[1], "late_init"))
        late_init();
    HANG(argc, argv, kinds);
}
