/*
 * pages.c - what a program does to the pages of its heap.
 *
 * Pages that are shown to peers (node/arena/show.h) are shared memory, and
 * differ from libc's heap in ways that a program could notice. So these calls
 * pass by here first:
 *
 *   madvise    with MADV_DONTNEED and MADV_FREE the program gives up what pages
 *              hold: shown ones become private again, and read as zeros
 *   mprotect   pages with a protection of their own are not replaced any more.
 *              When their block is freed they get the usual one back
 *   pthread_attr_setstack
 *              a thread's stack is private, and stays so
 *   mlockall   locks every mapping. Those of our files are as large as the
 *              memory could ever become, and peers' memory: they are left out
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "heap.h"
#include "node/arena/show.h"

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void *sw_real_madvise(void)
{
    static void *real;
    if (!real)
        real = next("madvise");
    return real;
}

SW_API int madvise(void *p, size_t n, int advice)
{
    int (*real)(void *, size_t, int);
    *(void **)&real = sw_real_madvise();
    if (advice == MADV_DONTNEED || advice == MADV_FREE)
        sw_show_drop(p, n);
    return real(p, n, advice);
}

SW_API int mprotect(void *p, size_t n, int protection)
{
    static int (*real)(void *, size_t, int);
    if (!real)
        *(void **)&real = next("mprotect");
    if (protection != (PROT_READ | PROT_WRITE)) {
        sw_show_freeze(p, n);
        if (sw_arena_is_block(p))
            sw_arena_protected(p, n);
    }
    return real(p, n, protection);
}

SW_API int pthread_attr_setstack(pthread_attr_t *attributes, void *p, size_t n)
{
    static int (*real)(pthread_attr_t *, void *, size_t);
    if (!real)
        *(void **)&real = next("pthread_attr_setstack");
    int error = real(attributes, p, n);
    if (!error)
        sw_show_stack(p, n);
    return error;
}

/* Is [low, high) a mapping that costs nothing while it is not touched? The
 * program's own memory is not, shown or not. */
static bool is_span(uintptr_t low, uintptr_t high, bool our_file)
{
    uint64_t offset = sw_arena_offset((const void *)low, high - low);
    return our_file && (offset == UINT64_MAX || sw_shown_always(offset));
}

SW_API int mlockall(int flags)
{
    static int (*real)(int);
    if (!real)
        *(void **)&real = next("mlockall");
    if (flags & ~(MCL_CURRENT | MCL_FUTURE) || sw_arena.fd < 0)
        return real(flags);
    if (flags & MCL_CURRENT && sw_os_lock_mappings(is_span))
        return -1;
    if (!(flags & MCL_FUTURE))
        return flags ? 0 : real(flags);
    sw_os_locks_future = true;
    return real(MCL_FUTURE);
}

SW_API int munlockall(void)
{
    static int (*real)(void);
    if (!real)
        *(void **)&real = next("munlockall");
    sw_os_locks_future = false;
    return real();
}
