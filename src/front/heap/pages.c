/*
 * pages.c - what a program does to the pages of its heap.
 *
 * Pages that are shown to peers (node/arena/show.h) are shared memory, and
 * differ from libc's heap in ways that a program could notice. So these calls
 * pass by here first:
 *
 *   madvise    with MADV_DONTNEED and MADV_FREE the program gives up what pages
 *              hold: shown ones become private again, and read as zeros
 *   madvise, mprotect, pkey_mprotect, mlock, mlock2, mbind, mremap
 *              what another page in their place would lose: see
 *              node/arena/arena_said.c
 *   pthread_attr_setstack
 *              a thread's stack is private, and stays so
 *   mlockall   locks every mapping. Those of our files are as large as the
 *              memory could ever become, and peers' memory: they are left out
 *
 * posix_madvise has nothing to say here: libc keeps the one advice that would
 * matter from the system. A program's own system calls (syscall) pass unseen.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap.h"
#include "node/arena/show.h"

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void *sw_heap_real_madvise(void)
{
    static void *real;
    if (!real)
        real = next("madvise");
    return real;
}

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
#endif
#define DONTNEED_LOCKED 24 /* Linux 5.18 */
#define GUARD_INSTALL 102  /* Linux 6.13 */

typedef int advise_t(void *, size_t, int);

/* What a child is to have there: shared pages by us, the others by the
 * system. */
static int of_child(void *p, size_t n, int advice, sw_arena_said_child_t what,
                    advise_t *real)
{
    char *at = p, *end = at + sw_round_up(n, SW_PAGE);
    if ((uintptr_t)p % SW_PAGE || end <= at)
        return real(p, n, advice);
    while (at < end) {
        bool done;
        size_t some = sw_arena_said_of_child(at, (size_t)(end - at), what,
                                             &done);
        if (!done && real(at, some, advice))
            return -1;
        at += some;
    }
    return 0;
}

SW_API int madvise(void *p, size_t n, int advice)
{
    advise_t *real;
    *(void **)&real = sw_heap_real_madvise();
    int rc;
    switch (advice) {
    case MADV_FREE: /* shared memory knows it not */
        sw_show_drop(p, n);
        return real(p, n, advice);
    case MADV_DONTNEED:
    case DONTNEED_LOCKED:
    case GUARD_INSTALL:
        if (advice == GUARD_INSTALL)
            sw_arena_said_protection(p, n, false);
        rc = real(p, n, advice);
        if (!rc)
            sw_show_drop(p, n);
        return rc;
    case MADV_HUGEPAGE: sw_arena_said_huge(p, n); return real(p, n, advice);
    case MADV_DONTDUMP:
    case MADV_NOHUGEPAGE:
    case MADV_MERGEABLE: sw_said(p, n); return real(p, n, advice);
    case MADV_WIPEONFORK:
        sw_said(p, n);
        return of_child(p, n, advice, SW_SAID_WIPE, real);
    case MADV_KEEPONFORK: return of_child(p, n, advice, SW_SAID_KEEP, real);
    case MADV_DONTFORK:
        sw_said(p, n);
        return of_child(p, n, advice, SW_SAID_LEAVE_OUT, real);
    case MADV_DOFORK: return of_child(p, n, advice, SW_SAID_TAKE_ALONG, real);
    default: /* hints, and undoing */ return real(p, n, advice);
    }
}

SW_API int mprotect(void *p, size_t n, int protection)
{
    static int (*real)(void *, size_t, int);
    if (!real)
        *(void **)&real = next("mprotect");
    sw_arena_said_protection(p, n, protection == (PROT_READ | PROT_WRITE));
    return real(p, n, protection);
}

SW_API int pkey_mprotect(void *p, size_t n, int protection, int key)
{
    static int (*real)(void *, size_t, int, int);
    if (!real)
        *(void **)&real = next("pkey_mprotect");
    bool open = protection == (PROT_READ | PROT_WRITE) && key <= 0;
    if (!open)
        sw_said(p, n);
    sw_arena_said_protection(p, n, open);
    if (real)
        return real(p, n, protection, key);
    errno = ENOSYS;
    return -1;
}

SW_API int mlock(const void *p, size_t n)
{
    sw_said(p, n);
    return (int)syscall(SYS_mlock, p, n);
}

SW_API int mlock2(const void *p, size_t n, unsigned flags)
{
    sw_said(p, n);
    return (int)(flags ? syscall(SYS_mlock2, p, n, flags)
                       : syscall(SYS_mlock, p, n));
}

/* libnuma's, which may not be there. */
SW_API long mbind(void *p, unsigned long n, int mode,
                  const unsigned long *nodes, unsigned long bits,
                  unsigned flags)
{
    sw_arena_said_policy(p, n);
    return syscall(SYS_mbind, p, n, mode, nodes, bits, flags);
}

void *sw_heap_real_mremap(void)
{
    static void *real;
    if (!real)
        real = next("mremap");
    return real;
}

SW_API void *mremap(void *p, size_t n, size_t size, int flags, ...)
{
    void *(*real)(void *, size_t, size_t, int, ...);
    *(void **)&real = sw_heap_real_mremap();
    void *to = NULL;
    if (flags & MREMAP_FIXED) {
        va_list more;
        va_start(more, flags);
        to = va_arg(more, void *);
        va_end(more);
        sw_said(to, size);
    }
    sw_said(p, sw_max(n, 1));
    return flags & MREMAP_FIXED ? real(p, n, size, flags, to)
                                : real(p, n, size, flags);
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
    /* What comes in place of locked pages later is locked only if all that
     * comes is. */
    if (flags & MCL_CURRENT && !(flags & MCL_FUTURE))
        sw_arena_said_all();
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
