/* Threads whose first MPI calls meet. Each must come out right. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 16 };
static pthread_barrier_t gate;
static int bad;

static void *call(void *arg)
{
    int version = 0, subversion = 0, flag = 1;

    pthread_barrier_wait(&gate);
    if ((long)arg % 2)
        MPI_Get_version(&version, &subversion);
    MPI_Initialized(&flag);
    if (!((long)arg % 2))
        PMPI_Get_version(&version, &subversion);
    if (version < 3 || flag != 0)
        __atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];

    pthread_barrier_init(&gate, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, call, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    printf("bad %d\n", bad);
    return bad != 0;
}
