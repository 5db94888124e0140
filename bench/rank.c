/*
 * rank.c - runs one rank of a job and logs its time and memory.
 *
 *   rank LOG LIBRARY|- PROGRAM [ARGUMENT ...]
 *
 * The program runs in a child process with LIBRARY preloaded ("-": none). This
 * process preloads nothing, and has so little memory that the peak is the
 * program's. It appends a line to LOG in one write, so that ranks may share
 * the file:
 *
 *   status  wall  user  system  minor faults  major faults  peak KiB
 *   voluntary  and  involuntary context switches
 *
 * The status is the exit status, or 128 and the signal's number. It is this
 * program's own exit status, too.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* When a launcher kills this process, the program must end too. */
static void become(const char *library, char **program, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    if (!strcmp(library, "-"))
        unsetenv("LD_PRELOAD");
    else
        setenv("LD_PRELOAD", library, 1);
    execvp(program[0], program);
    perror(program[0]);
    _exit(127);
}

static int note(const char *log, int status, double wall,
                const struct rusage *use)
{
    char line[256];
    int n = snprintf(
        line, sizeof line, "%d %.6f %.6f %.6f %ld %ld %ld %ld %ld\n", status,
        wall, seconds(use->ru_utime), seconds(use->ru_stime), use->ru_minflt,
        use->ru_majflt, use->ru_maxrss, use->ru_nvcsw, use->ru_nivcsw);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int written = fd >= 0 && write(fd, line, (size_t)n) == n;
    if (!written)
        perror(log);
    return written;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: rank LOG LIBRARY|- PROGRAM ...\n");
        return 2;
    }
    double start = now();
    pid_t self = getpid(), child = fork();
    if (child == 0)
        become(argv[2], argv + 3, self);
    struct rusage use;
    int how;
    if (child < 0 || wait4(child, &how, 0, &use) != child) {
        perror("rank");
        return 1;
    }
    int status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return note(argv[1], status, now() - start, &use) ? status : 1;
}
