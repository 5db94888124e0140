/*
 * heirs.c - the environment that this process leaves to the programs that it
 * starts.
 *
 * A rank may start another MPI job. That one gets this library and its settings
 * by the environment, as everything else does. With --only-this-program that
 * job does not: the program's first MPI call takes both out of the environment.
 * The start of the process does not, since what `run` starts may be a script
 * that becomes the program. LD_PRELOAD keeps the libraries that are not ours.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "door.h"
#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libstraightway.so"
#define PREFIX "STRAIGHTWAY_"

/* Is this entry of LD_PRELOAD, of so many bytes, ours? */
static bool is_ours(const char *entry, size_t n)
{
    const char *slash = memrchr(entry, '/', n);
    const char *name = slash ? slash + 1 : entry;
    size_t left = n - (size_t)(name - entry);
    return left >= strlen(LIBRARY) && !memcmp(name, LIBRARY, strlen(LIBRARY));
}

/* A copy, since the program may have kept the text. */
static void preload_others(void)
{
    const char *all = getenv("LD_PRELOAD");
    char *others = all ? malloc(strlen(all) + 1) : NULL, *end = others;
    if (!others)
        return;
    for (size_t n; *all; all += n) {
        all += strspn(all, " :");
        n = strcspn(all, " :");
        if (!n || is_ours(all, n))
            continue;
        if (end > others)
            *end++ = ':';
        memcpy(end, all, n);
        end += n;
    }
    *end = '\0';
    if (*others)
        setenv("LD_PRELOAD", others, 1);
    else
        unsetenv("LD_PRELOAD");
    free(others);
}

/* The settings have been read, and point into texts that stay. */
static void forget_settings(void)
{
    for (char **at = environ; at && *at;) {
        char name[128];
        size_t n = strcspn(*at, "=");
        if (strncmp(*at, PREFIX, strlen(PREFIX)) || n >= sizeof name) {
            at++;
            continue;
        }
        memcpy(name, *at, n);
        name[n] = '\0';
        if (unsetenv(name))
            at++;
    }
}

void sw_heirs_part(void)
{
    if (!sw_settings.only_this_program)
        return;
    preload_others();
    forget_settings();
}
