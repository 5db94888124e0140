/*
 * fork.c - new processes, as the program makes them.
 *
 * The arena's fork handlers do all the work (node/arena/arena_fork.c). They
 * must be the first to be registered, so that no other handlers run between
 * them and the fork. Constructors of the libraries that the program is linked
 * with run before ours, and register handlers, too. All of them do so by libc's
 * __register_atfork, of which pthread_atfork is a cover. So that is one of our
 * names, and its first call registers the arena's handlers before any other.
 *
 *   fork     only a program that forks while it runs on a stack inside the
 *            arena needs more than the handlers
 *   _Fork    calls no handlers: their work is done around it
 *   clone    likewise, if its child gets memory of its own
 *
 * What libc itself forks by (forkpty, daemon) calls the handlers. Not caught is
 * a system call that the program makes itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <unistd.h>

#include "node/arena/arena.h"

typedef pid_t (*fork_t)(void);

/* glibc's headers have neither, or not for long. */
SW_API pid_t _Fork(void);
SW_API int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void *object);

SW_API int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void *object)
{
    static sw_fork_register_t *real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "__register_atfork");
    if (!real)
        return ENOSYS;
    sw_fork_watch(real);
    return real(prepare, parent, child, object);
}

static pid_t refuse(void)
{
    errno = ENOSYS;
    return -1;
}

SW_API pid_t fork(void)
{
    static fork_t real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fork");
    return real ? sw_arena_fork(real) : refuse();
}

static fork_t real_bare(void)
{
    static fork_t real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "_Fork");
    return real;
}

static pid_t bare(void)
{
    return sw_arena_fork_bare(real_bare());
}

SW_API pid_t _Fork(void)
{
    return real_bare() ? sw_arena_fork(bare) : refuse();
}

SW_API int clone(int (*run)(void *), void *stack, int flags, void *with, ...)
{
    static sw_clone_t *real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clone");
    if (!real)
        return refuse();
    va_list more;
    va_start(more, with);
    pid_t *parent_id = va_arg(more, pid_t *);
    void *local = va_arg(more, void *);
    pid_t *child_id = va_arg(more, pid_t *);
    va_end(more);
    return flags & (CLONE_VM | CLONE_SETTLS) || !run || !stack
               ? real(run, stack, flags, with, parent_id, local, child_id)
               : sw_arena_clone(real, run, stack, flags, with, parent_id,
                                child_id);
}
