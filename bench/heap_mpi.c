/*
 * heap_mpi.c - jobs that hardly communicate: what does the arena cost them?
 *
 *   mpirun -n N heap_mpi PROGRAM [SCALE]
 *
 * Rank 0 prints one figure; heap.py runs each in turns with and without
 * Straightway. SCALE (1) multiplies the memory.
 *
 *   start   initialises and finalises, nothing else: the seconds of MPI_Init
 *   static  the same in a program with HEAP_STATIC bytes of static data, which
 *           a build defines for it (heap.py: 256 MiB)
 *   twelve  touches twelve arrays of 24 MiB, sweeps over each of them three
 *           times and exchanges a face of 128 KiB after each sweep, frees all,
 *           and does it again: the seconds of the slowest rank
 *   fork    rank 0 has touched 1 GiB of heap and has communicated 1 MiB of it:
 *           the seconds of a fork with its waitpid, median of 9
 *   use1, use2, use100
 *           a message of 1 MiB from a fresh buffer into another: the seconds of
 *           their first, second, hundredth use, median of 30 buffers
 *   core    the same, then rank 0 leaves a core dump
 *
 * Every program of heap.c runs here as well, on all ranks between two barriers.
 */
#include "heap.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARRAYS = 12, SWEEPS = 3, PASSES = 2 };
enum { BLOCKS = 64, EXCHANGES = 8, FORKS = 9, BUFFERS = 30 };
#define PLANE (128 * 128) /* doubles of a face */

#ifdef HEAP_STATIC
__attribute__((used)) static char filled[HEAP_STATIC] = {1};
#endif

static int rank, size, partner;

static void fail(const char *why)
{
    fprintf(stderr, "heap_mpi: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A rank's number after so many sweeps, exactly. */
static double value(int whose, int sweeps)
{
    double v = whose + 1;
    for (int i = 0; i < sweeps; i++)
        v = 0.5 * v + 1;
    return v;
}

static void sweep(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = 0.5 * a[i] + 1;
    __asm__ volatile("" : : "r"(a) : "memory");
}

/* My last plane goes to the partner, whose own arrives as my first one. */
static void exchange(double *a, size_t n, int sweeps)
{
    MPI_Sendrecv(a + n - PLANE, PLANE, MPI_DOUBLE, partner, 0, a, PLANE,
                 MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double come = value(partner, sweeps);
    if (a[0] != come || a[PLANE - 1] != come)
        fail("a face is wrong");
}

static double run_twelve(double scale)
{
    size_t face = PLANE * sizeof(double);
    size_t planes = heap_bytes(24, scale) / face;
    size_t n = (planes > 2 ? planes : 2) * PLANE;
    double start = heap_now(), *array[ARRAYS];
    for (int pass = 0; pass < PASSES; pass++) {
        for (int k = 0; k < ARRAYS; k++) {
            array[k] = heap_block(n * sizeof *array[k]);
            for (size_t i = 0; i < n; i++)
                array[k][i] = value(rank, 0);
        }
        for (int done = 1; done <= SWEEPS; done++)
            for (int k = 0; k < ARRAYS; k++) {
                sweep(array[k], n);
                exchange(array[k], n, done);
            }
        for (int k = 0; k < ARRAYS; k++)
            free(array[k]);
    }
    return heap_now() - start;
}

/* Half of the communicated MiB is sent, half is received, several times. */
static void communicate(char *block)
{
    int half = (int)(HEAP_MIB / 2);
    for (int i = 0; i < EXCHANGES; i++) {
        memset(block, 1 + rank + i, (size_t)half);
        MPI_Sendrecv(block, half, MPI_BYTE, partner, 0, block + half, half,
                     MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (block[half] != 1 + partner + i ||
            block[2 * half - 1] != 1 + partner + i)
            fail("a block is wrong");
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double one_fork(void)
{
    double start = heap_now();
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        fail("a child did not end well");
    return heap_now() - start;
}

static double forks(void)
{
    double times[FORKS];
    for (int i = 0; i < FORKS; i++)
        times[i] = one_fork();
    qsort(times, FORKS, sizeof *times, ascending);
    return times[FORKS / 2];
}

/* `use` counts from 1. All buffers stay: none has another's pages. */
static double run_use(int use, double scale)
{
    size_t each = heap_bytes(1, scale);
    double times[BUFFERS];
    char *block[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        heap_touch(block[i] = heap_block(each), each);
        for (int done = 0; done < use; done++) {
            block[i][each - 1] = (char)(rank + done);
            MPI_Barrier(MPI_COMM_WORLD);
            double start = heap_now();
            if (rank == 0)
                MPI_Send(block[i], (int)each, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            else
                MPI_Recv(block[i], (int)each, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            times[i] = heap_now() - start;
            if (block[i][each - 1] != (char)done)
                fail("a message is wrong");
        }
    }
    for (int i = 0; i < BUFFERS; i++)
        free(block[i]);
    qsort(times, BUFFERS, sizeof *times, ascending);
    return times[BUFFERS / 2];
}

/* The host may have a handler for SIGABRT. */
static void leave_a_core(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CORE, &limit);
    signal(SIGABRT, SIG_DFL);
    abort();
}

/* Sleeps until rank 0 says that it is done: a rank that spins in a barrier
 * would take processor time from it. */
static void wait_for_rank_0(void)
{
    for (int come = 0; !come;) {
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &come, MPI_STATUS_IGNORE);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double run_process(int dies, double scale)
{
    size_t each = heap_bytes(1024 / BLOCKS, scale);
    if (each < HEAP_MIB)
        each = HEAP_MIB;
    char *block[BLOCKS];
    int blocks = rank ? 1 : BLOCKS;
    for (int i = 0; i < blocks; i++)
        heap_touch(block[i] = heap_block(each), each);
    communicate(block[blocks / 2]);
    double time = 0;
    if (rank) {
        wait_for_rank_0();
    } else {
        if (dies)
            leave_a_core();
        time = forks();
        for (int i = 1; i < size; i++)
            MPI_Send(NULL, 0, MPI_BYTE, i, 1, MPI_COMM_WORLD);
    }
    for (int i = 0; i < blocks; i++)
        free(block[i]);
    return time;
}

int main(int argc, char **argv)
{
    double start = heap_now();
    MPI_Init(&argc, &argv);
    start = heap_now() - start;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    partner = (rank ^ 1) < size ? rank ^ 1 : rank;
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "start") || !strcmp(what, "static")) {
        if (rank == 0)
            printf("%.6f\n", start);
        MPI_Finalize();
        return 0;
    }
    double scale = argc > 2 ? atof(argv[2]) : 1, most;
    MPI_Barrier(MPI_COMM_WORLD);
    double figure = !(scale > 0)              ? -1
                    : !strcmp(what, "twelve") ? run_twelve(scale)
                    : !strcmp(what, "fork")   ? run_process(0, scale)
                    : !strcmp(what, "core")   ? run_process(1, scale)
                    : !strncmp(what, "use", 3) && atoi(what + 3) > 0 &&
                            size == 2
                        ? run_use(atoi(what + 3), scale)
                        : heap_run(what, scale);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&figure, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && figure >= 0)
        printf("%.6f\n", most);
    MPI_Finalize();
    if (figure < 0 && rank == 0)
        fprintf(stderr, "usage: heap_mpi start|static|twelve|fork|core|useN|"
                        "touch|walk|triad|storm|mlock [SCALE]\n");
    return figure < 0 ? 2 : 0;
}
