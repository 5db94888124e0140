/*
 * late_post.c - targets post only after they have heard from an origin, which
 * has started its epoch before. The origin accesses some targets, and others
 * not. With threads, several of them come to a target at once.
 */
#include "mpi/test.h"

#include <pthread.h>

#define THREADS 3
#define TURNS 50

static MPI_Win window;
static int turn;

static void put(int target, int place)
{
    int value = 100 * turn + place;
    MPI_Put(&value, 1, MPI_INT, target, place, 1, MPI_INT, window);
}

static void *put_one(void *place)
{
    put(1, (int)(size_t)place);
    return NULL;
}

static void access_targets(bool threads)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS && threads; i++)
        CHECK(!pthread_create(&thread[i], NULL, put_one, (void *)(size_t)i),
              "no thread");
    for (int i = 0; i < THREADS && !threads; i++)
        put(1, i);
    for (int i = 0; i < THREADS && threads; i++)
        pthread_join(thread[i], NULL);
    if (turn % 2)
        put(world_size - 1, THREADS);
}

static void origin(MPI_Group targets, bool threads)
{
    MPI_Win_start(targets, 0, window);
    for (int i = 1; i < world_size; i++)
        MPI_Send(&turn, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    if (turn % 3)
        access_targets(threads);
    MPI_Win_complete(window);
}

static void target(MPI_Group origins, const int *memory)
{
    int heard;
    MPI_Recv(&heard, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_post(origins, 0, window);
    MPI_Win_wait(window);
    for (int i = 0; i < THREADS && turn % 3 && world_rank == 1; i++)
        CHECK(memory[i] == 100 * turn + i, "turn %d: place %d has %d", turn, i,
              memory[i]);
    if (turn % 3 && turn % 2 && world_rank == world_size - 1)
        CHECK(memory[THREADS] == 100 * turn + THREADS, "turn %d: %d", turn,
              memory[THREADS]);
}

int main(int argc, char **argv)
{
    int level, first = 0, *memory = calloc(1 << 16, sizeof *memory);
    MPI_Group world, mine;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (world_rank == 0)
        MPI_Group_excl(world, 1, &first, &mine);
    else
        MPI_Group_incl(world, 1, &first, &mine);
    MPI_Win_create(memory, sizeof(int) << 16, sizeof(int), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    for (turn = 1; turn <= TURNS; turn++)
        if (world_rank == 0)
            origin(mine, level == MPI_THREAD_MULTIPLE);
        else
            target(mine, memory);
    MPI_Win_free(&window);
    MPI_Group_free(&mine);
    MPI_Group_free(&world);
    free(memory);
    if (world_rank == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
