/*
 * kill_rma.c - a rank goes away while others wait for it in a window.
 *
 *   kill_rma HOW [KIND]      lock | post | fence | midst
 *                            created | allocated | shared | dynamic
 *
 * In the midst of accesses a timer kills it, wherever it is. The job must end
 * by itself about as fast as the host ends it; this program never ends well.
 */
#include "mpi/test.h"
#include <signal.h>
#include <sys/time.h>

#define COUNT 10000

static MPI_Win window;
static MPI_Aint at[16]; /* of each rank's memory */

static void make(const char *kind)
{
    MPI_Aint bytes = COUNT * sizeof(long), mine = 0;
    long *memory = NULL;
    if (!strcmp(kind, "allocated")) {
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                         &window);
    } else if (!strcmp(kind, "shared")) {
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                                &memory, &window);
    } else {
        memory = malloc((size_t)bytes);
        if (!strcmp(kind, "dynamic")) {
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
            MPI_Win_attach(window, memory, bytes);
            MPI_Get_address(memory, &mine);
        } else {
            MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                           &window);
        }
    }
    memset(memory, 0, (size_t)bytes);
    MPI_Allgather(&mine, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
}

static void die(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

/* Short and long updates, copies, and both kinds of locks, for `seconds`. */
static void access_all(double seconds)
{
    static long buffer[COUNT], old[COUNT];
    double end = MPI_Wtime() + seconds;
    for (unsigned i = 0; MPI_Wtime() < end; i++) {
        int to = (int)(i % (unsigned)world_size), n = i % 5 ? 1 : COUNT;
        MPI_Win_lock(i % 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0,
                     window);
        if (i % 2)
            MPI_Put(buffer, n, MPI_LONG, to, at[to], n, MPI_LONG, window);
        else
            MPI_Get_accumulate(buffer, n, MPI_LONG, old, n, MPI_LONG, to,
                               at[to], n, MPI_LONG, MPI_SUM, window);
        MPI_Win_unlock(to, window);
    }
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "lock";
    long value = 0;
    int last = world_size - 1;
    MPI_Group all;
    make(argc > 2 ? argv[2] : "created");
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (!strcmp(how, "lock") && world_rank == last)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "midst")) {
        if (world_rank == last) {
            struct itimerval soon = {.it_value = {.tv_usec = 100000}};
            signal(SIGALRM, die);
            setitimer(ITIMER_REAL, &soon, NULL);
        }
        access_all(30);
    } else if (world_rank == last) {
        usleep(100000);
        raise(SIGKILL);
    } else if (!strcmp(how, "lock")) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Get(&value, 1, MPI_LONG, 0, at[0], 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    } else if (!strcmp(how, "post")) {
        MPI_Win_start(all, 0, window);
        MPI_Put(&value, 1, MPI_LONG, last, at[last], 1, MPI_LONG, window);
        MPI_Win_complete(window);
    } else {
        MPI_Win_fence(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    test_end();
    return 0;
}
