/*
 * core.c - rank 0 crashes and leaves a core dump.
 *
 *   core FOLDER
 *
 * By then both ranks have communicated from large blocks, and rank 0 has given
 * memory back. It dumps its core into FOLDER.
 */
#include "mpi/test.h"
#include <sys/mman.h>
#include <sys/resource.h>

#define WORDS (2 << 20)
#define MOST ((rlim_t)2 << 30) /* should the dump hold too much */

/* For the test, which looks them up in the dump. */
long *volatile core_block;
char core_globals[50000] = "globals are there";

__attribute__((noinline)) void crash_here(volatile int *at)
{
    *at = 1;
}

/* Intel MPI's shared memory makes 2 GiB of every dump, and a test slow. */
static void leave_out_the_hosts(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    unsigned long low, high;
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "/dev/shm/") &&
            sscanf(line, "%lx-%lx ", &low, &high) == 2)
            madvise((void *)low, high - low, MADV_DONTDUMP);
    if (maps)
        fclose(maps);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    struct rlimit core;
    getrlimit(RLIMIT_CORE, &core);
    core.rlim_cur = core.rlim_max < MOST ? core.rlim_max : MOST;
    setrlimit(RLIMIT_CORE, &core);
    CHECK(argc == 2 && chdir(argv[1]) == 0, "no folder");
    long *mine = malloc(WORDS * sizeof *mine);
    long *all = malloc(WORDS * sizeof *all);
    for (int i = 0; i < WORDS; i++)
        mine[i] = i + world_rank;
    for (int i = 0; i < 4; i++) {
        MPI_Allreduce(mine, all, WORDS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Sendrecv(all, WORDS, MPI_LONG, !world_rank, 0, mine, WORDS,
                     MPI_LONG, !world_rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    size_t large = (size_t)320 << 20;
    char *back = malloc(large);
    memset(back, 1, large);
    free(back);
    core_block = all;
    leave_out_the_hosts();
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        crash_here(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    test_end();
}
