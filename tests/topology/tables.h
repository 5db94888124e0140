/*
 * tables.h - tables of /sys in a folder of a test's own.
 */
#ifndef SW_TEST_TOPOLOGY_TABLES_H
#define SW_TEST_TOPOLOGY_TABLES_H

#include "topology/sysfs.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define fail(...)                                    \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), \
     fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

/* A machine's tables --------------------------------------------------- */

static char root[64];

static void put(const char *text, const char *format, ...)
{
    char path[256];
    va_list args;
    int n = snprintf(path, sizeof path, "%s/", root);
    va_start(args, format);
    vsnprintf(path + n, sizeof path - (size_t)n, format, args);
    va_end(args);
    for (char *p = path + n; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "%s\n", text) < 0 || fclose(f))
        fail("cannot write %s", path);
}

static int drop(const char *path, const struct stat *st, int type,
                struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static void begin(void)
{
    snprintf(root, sizeof root, "/tmp/straightway-test-XXXXXX");
    if (!mkdtemp(root))
        fail("no temporary folder");
    sw_sysfs_root = root;
}

static void end(void)
{
    nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
