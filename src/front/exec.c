/*
 * exec.c - programs that become another one by exec, past every destructor.
 *
 * A profile must be written before, but only where the call will hardly fail:
 * Python tries each folder of PATH in turn. In a child of fork or vfork nothing
 * happens (see exit.c). Such a child may hold no lock, so libc's functions are
 * looked up when the program starts.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "door.h"
#include "profile/capture/ending.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEXTS(X) X(execve) X(execv) X(execvp) X(execvpe) X(fexecve)

static struct {
#define X(name) __typeof__(&name) name;
    NEXTS(X)
#undef X
} next;

void sw_exec_start(void)
{
#define X(name)     \
    if (!next.name) \
        *(void **)&next.name = dlsym(RTLD_NEXT, #name);
    NEXTS(X)
#undef X
}

#define NEXT(name) \
    (sw_likely(next.name) ? next.name : (sw_exec_start(), next.name))

static bool is_in_path(const char *file)
{
    char path[PATH_MAX];
    const char *at = getenv("PATH");
    bool found = false;
    for (at = at ? at : "/bin:/usr/bin"; !found && at;) {
        int length = (int)strcspn(at, ":");
        int n = snprintf(path, sizeof path, "%.*s%s%s", length, at,
                         length ? "/" : "", file);
        found = n < (int)sizeof path && !access(path, X_OK);
        at = at[length] ? at + length + 1 : NULL;
    }
    return found;
}

/* The process becomes this program, if it can be run. */
static void become(const char *file, bool searched)
{
    if (sw_likely(!sw_ending_is_watched()))
        return;
    if (searched && !strchr(file, '/') ? is_in_path(file) : !access(file, X_OK))
        sw_ending_now(SW_END_EXEC);
}

SW_API int execve(const char *path, char *const argv[], char *const envp[])
{
    become(path, false);
    return NEXT(execve)(path, argv, envp);
}

SW_API int execv(const char *path, char *const argv[])
{
    become(path, false);
    return NEXT(execv)(path, argv);
}

SW_API int execvp(const char *file, char *const argv[])
{
    become(file, true);
    return NEXT(execvp)(file, argv);
}

SW_API int execvpe(const char *file, char *const argv[], char *const envp[])
{
    become(file, true);
    return NEXT(execvpe)(file, argv, envp);
}

SW_API int fexecve(int fd, char *const argv[], char *const envp[])
{
    if (sw_unlikely(sw_ending_is_watched()))
        sw_ending_now(SW_END_EXEC);
    return NEXT(fexecve)(fd, argv, envp);
}

/* The arguments from `first` to NULL as an array on this stack, as in libc: a
 * child of vfork shares the heap. */
#define LISTED(argv, first)                                 \
    va_list list;                                           \
    size_t n = 1;                                           \
    va_start(list, first);                                  \
    while (va_arg(list, char *))                            \
        n++;                                                \
    va_end(list);                                           \
    char **argv = __builtin_alloca((n + 1) * sizeof *argv); \
    va_start(list, first);                                  \
    argv[0] = (char *)(uintptr_t)first;                     \
    for (size_t i = 1; i <= n; i++)                         \
    argv[i] = va_arg(list, char *)

SW_API int execl(const char *path, const char *first, ...)
{
    LISTED(argv, first);
    va_end(list);
    return execv(path, argv);
}

SW_API int execlp(const char *file, const char *first, ...)
{
    LISTED(argv, first);
    va_end(list);
    return execvp(file, argv);
}

SW_API int execle(const char *path, const char *first, ...)
{
    LISTED(argv, first);
    char **envp = va_arg(list, char **);
    va_end(list);
    return execve(path, argv, envp);
}
