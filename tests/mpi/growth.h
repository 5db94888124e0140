/*
 * growth.h - what a process holds of the system: descriptors, mappings, memory.
 *
 * A test counts them twice, and fails where the process has gained some.
 */
#ifndef SW_TESTS_MPI_GROWTH_H
#define SW_TESTS_MPI_GROWTH_H

#include "mpi/test.h"

#include <dirent.h>

static inline long lines_of(const char *path)
{
    FILE *f = fopen(path, "r");
    long n = 0;
    for (int c; f && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

static inline long entries_of(const char *path)
{
    DIR *d = opendir(path);
    long n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static inline long resident_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

typedef struct {
    long maps, files, kib;
} growth_t;

static inline growth_t growth_now(void)
{
    return (growth_t){lines_of("/proc/self/maps"), entries_of("/proc/self/fd"),
                      resident_kib()};
}

/* No more mappings and descriptors than then, nor more than a few MiB. */
static inline void growth_check(growth_t then)
{
    growth_t now = growth_now();
    CHECK(now.maps - then.maps < 20, "%ld more mappings", now.maps - then.maps);
    CHECK(now.files - then.files < 5, "%ld more descriptors",
          now.files - then.files);
    CHECK(now.kib - then.kib < 16 << 10, "%ld KiB more", now.kib - then.kib);
}

#endif
