/*
 * profile_limits.c - a program that lowers one of its own limits while it
 * runs: MPI has what it needs by then, a profile has not.
 *
 * Usage: profile_limits memory|file|descriptors|descriptors-for-good N
 *
 *   memory        no more than N bytes of addresses beyond those of now
 *   file          no file longer than N bytes
 *   descriptors   rank 0 opens files until it has N, and may raise the limit
 *                 again; for good: it may not
 *
 * Every rank makes 500 calls of MPI_Bcast before and 500 after it.
 */
#include "mpi/test.h"

#include <fcntl.h>
#include <sys/resource.h>

static void work(void)
{
    static char bytes[4096];
    for (int i = 0; i < 500; i++)
        MPI_Bcast(bytes, 1 + i % 4096, MPI_CHAR, i % world_size,
                  MPI_COMM_WORLD);
}

static rlim_t addresses(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu", &pages) == 1, "no /proc/self/statm");
    fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void lower(const char *what, rlim_t n)
{
    int limit = *what == 'm'   ? RLIMIT_AS
                : *what == 'f' ? RLIMIT_FSIZE
                               : RLIMIT_NOFILE;
    struct rlimit now;
    getrlimit(limit, &now);
    now.rlim_cur = limit == RLIMIT_AS ? addresses() + n : n;
    if (strcmp(what, "descriptors"))
        now.rlim_max = now.rlim_cur;
    CHECK(setrlimit(limit, &now) == 0, "cannot set the limit");
    if (limit == RLIMIT_NOFILE && world_rank == 0)
        while (open("/dev/null", O_RDONLY) >= 0)
            ;
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    CHECK(argc == 3, "two arguments");
    work();
    /* The host itself writes files while it works. */
    if (*argv[1] == 'f')
        work();
    lower(argv[1], (rlim_t)atoll(argv[2]));
    if (*argv[1] != 'f')
        work();
    test_end();
    return 0;
}
