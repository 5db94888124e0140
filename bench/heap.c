/*
 * heap.c - programs that never communicate: what does the arena cost them?
 *
 *   heap touch|walk|triad|storm
 *
 * Each prints its time in seconds. heap.py runs them in turns with and
 * without Straightway preloaded: the arena serves every program's big blocks.
 *
 *   touch   first touch of 512 MiB, a page at a time
 *   walk    a chain of dependent loads at random places of 512 MiB
 *   triad   a[i] = b[i] + s * c[i] over three arrays of 64 MiB
 *   storm   two threads that allocate, touch and free blocks of 16 KiB to
 *           1 MiB
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB ((size_t)1 << 20)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void touch(volatile char *p, size_t n)
{
    for (size_t i = 0; i < n; i += 4096)
        p[i] = 1;
}

static double run_touch(void)
{
    char *p = malloc(512 * MIB);
    double start = now();
    touch(p, 512 * MIB);
    double end = now();
    free(p);
    return end - start;
}

/* One cycle through all cache lines in random order (Sattolo's shuffle). */
static double run_walk(void)
{
    size_t n = 512 * MIB / 64;
    uint64_t (*line)[8] = malloc(512 * MIB), state = 88172645463325252u;
    for (size_t i = 0; i < n; i++)
        line[i][0] = i;
    for (size_t i = n - 1; i > 0; i--) {
        size_t k = draw(&state) % i;
        uint64_t swap = line[i][0];
        line[i][0] = line[k][0];
        line[k][0] = swap;
    }
    double start = now();
    uint64_t at = 0;
    for (int i = 0; i < 8000000; i++)
        at = line[at][0];
    double end = now();
    if (at > n)
        puts("");
    free(line);
    return end - start;
}

static double run_triad(void)
{
    size_t n = 64 * MIB / sizeof(double);
    double *a = malloc(64 * MIB), *b = malloc(64 * MIB),
           *c = malloc(64 * MIB);
    for (size_t i = 0; i < n; i++) {
        a[i] = 0;
        b[i] = 1;
        c[i] = 2;
    }
    double start = now();
    for (int round = 0; round < 20; round++) {
        double s = round;
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] + s * c[i];
        __asm__ volatile("" : : "r"(a) : "memory");
    }
    double end = now();
    free(a);
    free(b);
    free(c);
    return end - start;
}

static void *storm(void *seed)
{
    char *held[64] = {NULL};
    uint64_t state = (uint64_t)(uintptr_t)seed;
    for (int i = 0; i < 200000; i++) {
        int k = (int)(draw(&state) % 64);
        free(held[k]);
        size_t size = (size_t)16384 << draw(&state) % 6;
        size += draw(&state) % size;
        held[k] = malloc(size);
        held[k][0] = held[k][size - 1] = 1;
    }
    for (int k = 0; k < 64; k++)
        free(held[k]);
    return NULL;
}

static double run_storm(void)
{
    pthread_t thread[2];
    double start = now();
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, storm, (void *)(i + 88172645));
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return now() - start;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    double t = !strcmp(what, "touch") ? run_touch()
               : !strcmp(what, "walk") ? run_walk()
               : !strcmp(what, "triad") ? run_triad()
               : !strcmp(what, "storm") ? run_storm() : -1;
    if (t < 0) {
        fprintf(stderr, "usage: heap touch|walk|triad|storm\n");
        return 2;
    }
    printf("%.6f\n", t);
    return 0;
}
