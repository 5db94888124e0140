/* sentry.c - see sentry.h. */
#include "sentry.h"

#include "mpi/base/roster.h"
#include "node/base/duration.h"
#include "node/base/settings.h"
#include "node/os/os.h"
#include "profile/capture/ending.h"
#include "watch/own.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* SIGTERM ------------------------------------------------------------------ */

enum { STEP_NS = 10000000, STEPS = 300 };

/* Safe in a signal handler. A child of fork shows nothing, and does not wait;
 * nor does a child of vfork, which has its parent's memory. */
static void wait_for_sentry(int signal)
{
    const struct timespec step = {0, STEP_NS};
    sw_watch_t *w = sw_watch;
    if (signal != SIGTERM || w->pid != getpid() || !atomic_load(&w->guarded))
        return;
    atomic_store(&w->terminating, 1);
    for (int i = 0; i < STEPS && !atomic_load(&w->told); i++)
        nanosleep(&step, NULL);
}

static void handle(int signal)
{
    const struct sigaction ends = {.sa_handler = SIG_DFL};
    int error = errno;
    wait_for_sentry(signal);
    sigaction(signal, &ends, NULL);
    errno = error;
    raise(signal); /* when this function has returned */
}

static void catch_sigterm(void)
{
    const struct sigaction ours = {.sa_handler = handle,
                                   .sa_flags = SA_RESTART | SA_ONSTACK};
    struct sigaction now;
    if (sw_settings.profile) /* the profile handles it, and asks us first */
        sw_ending_first = wait_for_sentry;
    else if (!sigaction(SIGTERM, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
             now.sa_handler == SIG_DFL)
        sigaction(SIGTERM, &ours, NULL);
}

/* The sentry's start ------------------------------------------------------- */

/* It is no part of the job: not preloaded, and without settings. */
static const char *const without[] = {"LD_PRELOAD=", "LD_AUDIT=",
#define SW_SETTING(KIND, field, NAME, value, help) "STRAIGHTWAY_" #NAME "=",
#include "node/base/settings.def"
                                      NULL};

/* `to` gets a path as seen from the folder that holds this library. */
static bool beside(const char *name, char *to, size_t room)
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)sw_sentry_start, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash - info.dli_fname) + 1 : 0;
    int n = snprintf(to, room, "%.*s%s", folder, info.dli_fname, name);
    return n > 0 && (size_t)n < room;
}

/* The sentry's parent is a process that ends at once. The program sees neither:
 * that process sends no signal when it ends, and no wait of the program's finds
 * it (__WCLONE). All three share memory, one after the other: each waits until
 * the next has ended, or become another program. No handler may run in them, so
 * all signals are blocked. */
typedef struct {
    char **argv, **env;
    volatile int error;
} spawn_t;

static int become(void *with)
{
    spawn_t *s = with;
    pid_t child = vfork();
    if (child < 0)
        s->error = errno;
    if (child)
        return 0;
    syscall(SYS_execve, s->argv[0], s->argv, s->env);
    s->error = errno;
    syscall(SYS_exit_group, 127);
    return 0;
}

static int spawn(char **argv, char **env)
{
    static _Alignas(16) char stack[16384];
    spawn_t s = {argv, env, 0};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = clone(become, stack + sizeof stack, CLONE_VM | CLONE_VFORK,
                        &s);
    if (child < 0)
        s.error = errno;
    else
        while (waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s.error;
}

static void start(int64_t seconds, const char *action)
{
    static char path[4096], command[4096]; /* once, and not on a stack */
    char pid[16], time[24];
    const char *given = getenv("STRAIGHTWAY_COMMAND");
    if (!beside("straightway-where", path, sizeof path) ||
        !beside("../../bin/straightway", command, sizeof command)) {
        sw_say("--hang-after: the path of Straightway's library is too long");
        return;
    }
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    snprintf(time, sizeof time, "%lld", (long long)seconds);
    const char *argv[] = {path, "--sentry", pid,
                          time, action,     given && *given ? given : command,
                          NULL};
    char **env = sw_os_environment_without(without);
    int error = env ? spawn((char **)(uintptr_t)argv, env) : ENOMEM;
    free(env);
    if (error)
        sw_say("--hang-after: %s cannot be started (%s); nothing will tell of "
               "a hang",
               path, strerror(error));
}

void sw_sentry_start(void)
{
    if (!*sw_settings.hang_after)
        return;
    int64_t seconds = sw_duration(sw_settings.hang_after);
    const char *action = sw_settings.hang_action;
    if (seconds < 0 && sw_roster.rank == 0)
        sw_say("STRAIGHTWAY_HANG_AFTER=%s is not understood: give "
               "" SW_DURATION_WANTED " (nothing will tell of a hang)",
               sw_settings.hang_after);
    if (seconds <= 0)
        return;
    if (strcmp(action, "report") && strcmp(action, "abort")) {
        if (sw_roster.rank == 0)
            sw_say("STRAIGHTWAY_HANG_ACTION=%s is not understood: give report "
                   "or abort (the default, report, is kept)",
                   action);
        action = "report";
    }
    catch_sigterm();
    if (sw_roster.place == 0)
        start(seconds < INT32_MAX ? seconds : INT32_MAX, action);
}
