/*
 * fork.c - fork, as the program calls it.
 *
 * The arena's fork handlers do all the work. Only a program that forks while
 * it runs on a stack inside the arena needs more; see arena_fork.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "node/arena/arena.h"

SW_API pid_t fork(void)
{
    static pid_t (*real)(void);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fork");
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    return sw_arena_fork(real);
}
