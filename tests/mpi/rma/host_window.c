/*
 * host_window.c - accesses to a window of the host's, whose target waits in a
 * call of ours.
 *
 * The window lies in a small block of the heap, so that the host serves it. For
 * most accesses the host needs its progress at the target, again and again. A
 * target that slept between two turns would make each access last as long as a
 * sleep. So rank 0 counts how often it sleeps in MPI_Barrier and in MPI_Recv.
 */
#include "mpi/test.h"

#include <sys/resource.h>

enum { ACCESSES = 500, WORDS = 64 };

static long sleeps(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_nvcsw;
}

static void accesses(MPI_Win win)
{
    for (int i = 0; i < ACCESSES; i++) {
        int word = i, old = -1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&word, 1, MPI_INT, 0, i % WORDS, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(&old, 1, MPI_INT, 0, i % WORDS, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
        CHECK(old == i, "access %d finds %d", i, old);
    }
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int *words = calloc(WORDS, sizeof *words), word = 0;
    MPI_Win win;
    MPI_Win_create(words, WORDS * sizeof *words, sizeof *words, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    for (int round = 0; round < 2; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        long before = sleeps();
        if (world_rank == 1) {
            accesses(win);
            if (round)
                MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        } else if (round) {
            MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        if (!round)
            MPI_Barrier(MPI_COMM_WORLD);
        CHECK(sleeps() - before < ACCESSES / 5, "round %d: %ld sleeps", round,
              sleeps() - before);
    }
    MPI_Win_free(&win);
    free(words);
    test_end();
}
