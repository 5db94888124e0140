/*
 * heap.c - programs that do not communicate: what does the arena cost them?
 *
 *   heap touch|walk|triad|storm|mlock [SCALE]
 *
 * Each prints one figure: seconds, or MB for mlock. heap.py runs them in turns
 * with and without Straightway, whose arena serves every program's big blocks.
 * heap_mpi.c runs the same between MPI_Init and MPI_Finalize. SCALE (1)
 * multiplies the memory and the work.
 *
 *   touch   first touch of 512 MiB, a page at a time
 *   walk    a chain of dependent loads at random places of 512 MiB
 *   triad   a[i] = b[i] + s * c[i] over three arrays of 64 MiB
 *   storm   two threads that allocate, touch and free blocks of 16 KiB to
 *           1 MiB
 *   mlock   one block of 1 MiB, then mlockall: the resident memory after it
 */
#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LOCKED_MAX (256.0 * HEAP_MIB)

double heap_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t heap_bytes(size_t mib, double scale)
{
    size_t pages = (size_t)((double)(mib * HEAP_MIB) * scale / 4096);
    return pages > 0 ? pages * 4096 : 4096;
}

void *heap_block(size_t size)
{
    void *p = malloc(size);
    if (!p) {
        fprintf(stderr, "heap: out of memory\n");
        exit(1);
    }
    return p;
}

void heap_touch(volatile char *p, size_t size)
{
    for (size_t i = 0; i < size; i += 4096)
        p[i] = 1;
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double run_touch(double scale)
{
    size_t size = heap_bytes(512, scale);
    char *p = heap_block(size);
    double start = heap_now();
    heap_touch(p, size);
    double end = heap_now();
    free(p);
    return end - start;
}

/* One cycle through all cache lines in random order (Sattolo's shuffle). */
static double run_walk(double scale)
{
    size_t size = heap_bytes(512, scale), n = size / 64;
    uint64_t (*line)[8] = heap_block(size), state = 88172645463325252u;
    for (size_t i = 0; i < n; i++)
        line[i][0] = i;
    for (size_t i = n - 1; i > 0; i--) {
        size_t k = draw(&state) % i;
        uint64_t swap = line[i][0];
        line[i][0] = line[k][0];
        line[k][0] = swap;
    }
    double start = heap_now();
    uint64_t at = 0;
    for (int i = 0; i < 8000000 * scale; i++)
        at = line[at][0];
    double end = heap_now();
    if (at > n)
        puts("");
    free(line);
    return end - start;
}

static double run_triad(double scale)
{
    size_t size = heap_bytes(64, scale), n = size / sizeof(double);
    double *a = heap_block(size), *b = heap_block(size), *c = heap_block(size);
    for (size_t i = 0; i < n; i++) {
        a[i] = 0;
        b[i] = 1;
        c[i] = 2;
    }
    double start = heap_now();
    for (int round = 0; round < 20; round++) {
        double s = round;
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] + s * c[i];
        __asm__ volatile("" : : "r"(a) : "memory");
    }
    double end = heap_now();
    free(a);
    free(b);
    free(c);
    return end - start;
}

typedef struct {
    uint64_t state;
    int steps;
} storm_t;

static void *storm(void *arg)
{
    storm_t *its = arg;
    char *held[64] = {NULL};
    for (int i = 0; i < its->steps; i++) {
        int k = (int)(draw(&its->state) % 64);
        free(held[k]);
        size_t size = (size_t)16384 << draw(&its->state) % 6;
        size += draw(&its->state) % size;
        held[k] = heap_block(size);
        held[k][0] = held[k][size - 1] = 1;
    }
    for (int k = 0; k < 64; k++)
        free(held[k]);
    return NULL;
}

static double run_storm(double scale)
{
    pthread_t thread[2];
    storm_t its[2];
    double start = heap_now();
    for (int i = 0; i < 2; i++) {
        its[i] = (storm_t){88172645u + (unsigned)i, (int)(200000 * scale)};
        pthread_create(&thread[i], NULL, storm, &its[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return heap_now() - start;
}

/* Resident memory in bytes. It allocates nothing, which would change the
 * result. */
static double resident(void)
{
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *second = strchr(text, ' ');
    return second ? strtod(second, NULL) * (double)sysconf(_SC_PAGESIZE) : 0;
}

/* End the process before mlockall takes the machine's memory, and print the
 * amount so far. */
static void *guard(void *none)
{
    (void)none;
    for (;;) {
        double bytes = resident();
        if (bytes > LOCKED_MAX) {
            char text[32];
            int n = snprintf(text, sizeof text, "%.6f\n", bytes / 1e6);
            _exit(write(STDOUT_FILENO, text, (size_t)n) == n ? 0 : 1);
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return NULL;
}

static double run_mlock(double scale)
{
    size_t size = heap_bytes(1, scale);
    char *p = heap_block(size);
    heap_touch(p, size);
    pthread_t thread;
    pthread_attr_t small; /* its stack is locked, too */
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    pthread_create(&thread, &small, guard, NULL);
    if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
        fprintf(stderr, "mlockall: %s\n", strerror(errno));
        exit(HEAP_REFUSED);
    }
    double bytes = resident();
    munlockall();
    free(p);
    return bytes / 1e6;
}

double heap_run(const char *what, double scale)
{
    return !strcmp(what, "touch")   ? run_touch(scale)
           : !strcmp(what, "walk")  ? run_walk(scale)
           : !strcmp(what, "triad") ? run_triad(scale)
           : !strcmp(what, "storm") ? run_storm(scale)
           : !strcmp(what, "mlock") ? run_mlock(scale)
                                    : -1;
}

#ifndef HEAP_WITHOUT_MAIN
int main(int argc, char **argv)
{
    double scale = argc > 2 ? atof(argv[2]) : 1;
    double figure = scale > 0 ? heap_run(argc > 1 ? argv[1] : "", scale) : -1;
    if (figure < 0) {
        fprintf(stderr, "usage: heap touch|walk|triad|storm|mlock [SCALE]\n");
        return 2;
    }
    printf("%.6f\n", figure);
    return 0;
}
#endif
