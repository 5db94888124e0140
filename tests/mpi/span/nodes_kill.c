/*
 * nodes_kill.c - ranks of one node go away inside collectives over several.
 *
 *   nodes_kill FOLDER ROUND VICTIM...
 *
 * Each VICTIM is a rank in MPI_COMM_WORLD. All victims end by SIGKILL in the
 * same round; in round 0 the others meet for their first collective. The job
 * must end by itself about as fast as the host ends it; this program never ends
 * well. Each victim first leaves the time in FOLDER/died.
 */
#include "mpi/test.h"

#include <signal.h>
#include <time.h>

#define MANY 100000

static void die(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/died", folder);
    FILE *f = fopen(path, "w");
    CHECK(f, "cannot write %s", path);
    fprintf(f, "%lld\n", (long long)time(NULL));
    fclose(f);
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    bool victim = false;
    long last = argument(argc, argv, 2, 20);
    for (int i = 3; i < argc; i++)
        victim |= atoi(argv[i]) == world_rank;
    double *a = calloc(MANY, 8), *b = calloc((size_t)world_size * MANY, 8);
    for (long i = 0;; i++) {
        int n = i % 2 ? MANY : 1, root = (int)(i % world_size);
        if (i == last && victim && !last)
            die(argv[1]);
        MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(a, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
        MPI_Gather(a, n / 8 + 1, MPI_DOUBLE, b, n / 8 + 1, MPI_DOUBLE, root,
                   MPI_COMM_WORLD);
        if (i == last && victim)
            die(argv[1]);
        MPI_Alltoall(b, n / 8 + 1, MPI_DOUBLE, b + (size_t)world_size * 20000,
                     n / 8 + 1, MPI_DOUBLE, MPI_COMM_WORLD);
    }
}
