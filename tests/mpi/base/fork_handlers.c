/*
 * fork_handlers.c - a library that a program is linked with. Its constructor
 * registers fork handlers before any preloaded library has run code of its own.
 *
 * They allocate, as glibc allows, and the child's writes to the program's
 * memory.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

char *handlers_write; /* the program's block ... */
size_t handlers_bytes;
int handlers_ran;

static void allocate(void)
{
    for (size_t n = 1000; n <= (size_t)4 << 20; n *= 4) {
        char *p = malloc(n);
        if (!p)
            abort();
        memset(p, 1, n);
        free(p);
    }
    handlers_ran++;
}

static void child(void)
{
    if (handlers_write)
        memset(handlers_write, 'c', handlers_bytes);
    allocate();
}

__attribute__((constructor)) static void construct(void)
{
    if (pthread_atfork(allocate, allocate, child))
        abort();
}
