/*
 * clocks.h - every clock that a C or C++ program may time itself by, and the
 * loop that is timed; see clocks.c.
 */
#ifndef TEST_CLOCKS_H
#define TEST_CLOCKS_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int me, n;

static void exchange(int times)
{
    static char from[1 << 20], to[1 << 20];
    for (int i = 0; i < times; i++)
        MPI_Alltoall(from, 1000, MPI_CHAR, to, 1000, MPI_CHAR, MPI_COMM_WORLD);
}

static int64_t by_id(clockid_t id)
{
    struct timespec t;
    if (clock_gettime(id, &t)) {
        printf("wrong: no clock %d\n", (int)id);
        return 0;
    }
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t real(void)
{
    return by_id(CLOCK_REALTIME);
}
static int64_t monotonic(void)
{
    return by_id(CLOCK_MONOTONIC);
}
static int64_t raw(void)
{
    return by_id(CLOCK_MONOTONIC_RAW);
}
static int64_t coarse(void)
{
    return by_id(CLOCK_MONOTONIC_COARSE);
}
static int64_t boottime(void)
{
    return by_id(CLOCK_BOOTTIME);
}

static int64_t day(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

static int64_t calendar(void)
{
    struct timespec t;
    if (timespec_get(&t, TIME_UTC) != TIME_UTC)
        printf("wrong: no timespec_get\n");
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

typedef struct {
    const char *name;
    int64_t (*now)(void);
} clock_row_t;

#endif
