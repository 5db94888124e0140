/* task.c - see task.h; for /proc/PID/task/TID/syscall proc(5). */
#include "task.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long to wait for a thread to stop, in ns, and how long for all. Where
 * ranks share cores, a thread stops only when its turn to run comes. */
#define PATIENCE 100000000
#define PATIENCE_IN_ALL 1500000000
#define NO_PATIENCE 5000000

static bool read_text(pid_t pid, pid_t tid, const char *name, char *to,
                      size_t room)
{
    char path[96];

    sprintf(path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, room - 1);
    if (fd >= 0)
        close(fd);
    to[n > 0 ? n : 0] = 0;
    return n > 0;
}

char sw_task_state(pid_t pid, pid_t tid)
{
    char text[512];

    if (!read_text(pid, tid, "stat", text, sizeof text))
        return 0;
    const char *name = strrchr(text, ')');
    return name && name[1] == ' ' ? name[2] : 0;
}

pid_t sw_task_inner(pid_t pid, pid_t inner)
{
    char path[64], text[4096];
    struct dirent *e;
    pid_t found = 0;

    sprintf(path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    while (dir && !found && (e = readdir(dir))) {
        pid_t tid = atoi(e->d_name);
        if (tid <= 0 || !read_text(pid, tid, "status", text, sizeof text))
            continue;
        char *line = strstr(text, "\nNSpid:");
        if (line) {
            line[1 + strcspn(line + 1, "\n")] = 0;
            found = atoi(strrchr(line, '\t')) == inner ? tid : 0;
        }
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Calls that the kernel begins again after a stop, whatever their arguments. */
static bool begins_again(long number)
{
    switch (number) {
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_futex:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_sched_yield:
#ifdef SYS_poll
    case SYS_poll:
#endif
        return true;
    default: return false;
    }
}

bool sw_task_waits(pid_t pid, pid_t tid, sw_point_t *to, bool *halts)
{
    char text[512], *end;

    *to = (sw_point_t){.exact = true, .no_bp = true};
    *halts = true;
    if (!read_text(pid, tid, "syscall", text, sizeof text) ||
        !strncmp(text, "running", 7))
        return false;
    *halts = begins_again(strtol(text, &end, 10));
    char *pc = strrchr(text, ' ');
    if (!pc || pc == text)
        return false;
    to->pc = strtoull(pc, NULL, 16);
    *pc = 0;
    char *sp = strrchr(text, ' ');
    to->sp = sp ? strtoull(sp, NULL, 16) : 0;
    return to->pc && to->sp;
}

/* Stopping ---------------------------------------------------------------- */

/* Threads that did not come to a stop in time. They go on as soon as they do;
 * the kernel lets the others go at this program's end. */
enum { LATE = 256 };
static pid_t late[LATE];

static int pending_signal; /* that the stopped thread was about to take */

static void let_go(pid_t tid, int status)
{
    int signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
    ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signal);
}

static void settle(void)
{
    int status;

    for (size_t i = 0; i < LATE; i++) {
        if (!late[i])
            continue;
        pid_t got = waitpid(late[i], &status, __WALL | WNOHANG);
        if (got == late[i] && WIFSTOPPED(status))
            let_go(got, status);
        if (got)
            late[i] = 0;
    }
}

static void be_late(pid_t tid)
{
    for (size_t i = 0; i < LATE; i++)
        if (!late[i]) {
            late[i] = tid;
            return;
        }
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* Wait until the thread has stopped. False: it has not, or is gone. */
static bool stops(pid_t tid, int *status)
{
    const struct timespec moment = {.tv_nsec = 20000};
    static int64_t waited;
    int64_t begin = now();
    int64_t most = waited < PATIENCE_IN_ALL ? PATIENCE : NO_PATIENCE;

    for (;;) {
        pid_t got = waitpid(tid, status, __WALL | WNOHANG);
        int64_t since = now() - begin;
        if (got || since > most)
            waited += since;
        if (got == tid)
            return WIFSTOPPED(*status);
        if (got < 0)
            return false;
        if (since > most)
            break;
        settle();
        nanosleep(&moment, NULL);
    }
    be_late(tid);
    return false;
}

static bool registers(pid_t tid, sw_point_t *to)
{
    struct user_regs_struct r;
    struct iovec all = {&r, sizeof r};

    if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &all) ||
        all.iov_len != sizeof r)
        return false;
#if defined(__x86_64__)
    *to = (sw_point_t){r.rip, r.rsp, r.rbp, .exact = true};
#else
    *to = (sw_point_t){r.pc, r.sp, r.regs[29], .exact = true};
#endif
    return true;
}

bool sw_task_halt(pid_t tid, sw_point_t *to)
{
    int status;

    settle();
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
        return false;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL)) {
        be_late(tid);
        return false;
    }
    if (!stops(tid, &status))
        return false;
    pending_signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
    if (registers(tid, to))
        return true;
    sw_task_go(tid);
    return false;
}

void sw_task_go(pid_t tid)
{
    ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)pending_signal);
}
