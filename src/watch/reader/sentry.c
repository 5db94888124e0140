/* sentry.c - see sentry.h. */
#include "sentry.h"

#include "display.h"
#include "task.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 100,     /* between two looks whether a rank is ended */
    LOOK_MS = 500,     /* at most, between two looks at the calls */
    STILL_MS = 1000,   /* a job that is ended hangs, if so still */
    JOIN_MS = 30000,   /* ranks show themselves within this time */
    REPORT_MS = 60000, /* a report comes within this time */
    END_MS = 5000,     /* from SIGTERM to SIGKILL */
};

typedef struct {
    sw_watch_t *shown; /* the file, for `guarded` and `told` to be set */
    pid_t pid;
    int fd; /* of the process; -1: the system gives none */
    bool over;
} rank_t;

static const sw_sentry_t *order;
static rank_t *ranks;
static size_t count;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dprintf(STDERR_FILENO, "straightway: %s\n", text);
}

static int64_t clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Processes ---------------------------------------------------------------- */

static int open_process(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Wait for the end of a process, at most so long; has it ended? */
static bool wait_for(pid_t pid, int fd, int ms)
{
    struct pollfd one = {fd, POLLIN, 0};

    if (fd >= 0)
        return poll(&one, 1, ms) > 0;
    poll(NULL, 0, sw_min(ms, TICK_MS));
    char state = sw_task_state(pid, pid);
    return !state || state == 'Z' || state == 'X';
}

static void send_signal(const rank_t *r, int signal)
{
    if (r->fd < 0)
        kill(r->pid, signal);
    else
        syscall(SYS_pidfd_send_signal, r->fd, signal, NULL, 0);
}

/* NULL: all have ended. Waits, at most so long, for the end of one that it
 * finds alive: so the last one's end is noticed at once. */
static rank_t *living(int ms)
{
    for (size_t i = 0; i < count; i++) {
        rank_t *r = &ranks[i];
        if (!r->over && !(r->over = wait_for(r->pid, r->fd, ms)))
            return r;
    }
    return NULL;
}

/* The ranks ---------------------------------------------------------------- */

static bool is_known(pid_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (ranks[i].pid == pid)
            return true;
    return false;
}

/* A process becomes one of the ranks, if it shows the job. */
static void join(pid_t pid)
{
    sw_space_t space = {.pid = pid};
    static sw_display_t d;
    rank_t r = {NULL, pid, -1, false};

    if (sw_display_open(&d, &space))
        return;
    bool ours = d.live && d.copy->rank >= 0 &&
                (!count || !strcmp(d.copy->job, ranks[0].shown->job));
    int fd = ours ? open(d.path, O_RDWR | O_CLOEXEC) : -1;
    void *map = fd < 0 ? MAP_FAILED
                       : mmap(NULL, sizeof(sw_watch_t), PROT_READ | PROT_WRITE,
                              MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    rank_t *more = map == MAP_FAILED
                       ? NULL
                       : realloc(ranks, (count + 1) * sizeof *ranks);
    if (more) {
        ranks = more;
        r.shown = map;
        r.fd = open_process(pid);
        ranks[count++] = r;
        atomic_store(&r.shown->guarded, 1);
    } else if (map != MAP_FAILED) {
        munmap(map, sizeof(sw_watch_t));
    }
    sw_display_close(&d);
    sw_space_close(&space);
}

/* All processes of this user. */
static void look_around(void)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    struct stat st;

    while (dir && (e = readdir(dir))) {
        pid_t pid = isdigit((unsigned char)*e->d_name) ? atoi(e->d_name) : 0;
        if (pid > 0 && pid != getpid() && !is_known(pid) &&
            !fstatat(dirfd(dir), e->d_name, &st, 0) && st.st_uid == geteuid())
            join(pid);
    }
    if (dir)
        closedir(dir);
}

/* The ranks leave MPI_Init one after the other: look again, ever less often. */
static void gather(int64_t now)
{
    static int64_t first, next, pause = TICK_MS;

    if (!first)
        first = now;
    if (now < next || now > first + JOIN_MS ||
        count >= (size_t)ranks[0].shown->node_ranks)
        return;
    look_around();
    next = clock_ms() + pause;
    pause = sw_min(2 * pause, 2000);
}

/* Calls -------------------------------------------------------------------- */

typedef struct {
    uint64_t finished, begun; /* alike, as long as no call finishes, begins */
    bool inside;              /* a thread is in a call */
} calls_t;

/* Rows are taken in their order. None behind the first fresh row is read: that
 * would give the sparse file more pages. */
static calls_t calls_of_all(void)
{
    calls_t c = {0, 0, false};

    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < SW_WATCH_THREADS; k++) {
            const sw_watch_thread_t *t = &ranks[i].shown->threads[k];
            bool used = __atomic_load_n(&t->tid, __ATOMIC_RELAXED);
            uint32_t turn = atomic_load_explicit(&t->turn,
                                                 memory_order_relaxed);
            if (!used && !turn)
                break;
            c.finished = 31 * c.finished +
                         __atomic_load_n(&t->finished, __ATOMIC_RELAXED);
            c.begun = 31 * c.begun + turn;
            c.inside |= used && __atomic_load_n(&t->inside, __ATOMIC_RELAXED);
        }
    return c;
}

/* How long no call has finished, as far as this process has run meanwhile: one
 * that was stopped together with its job has seen nothing. */
static struct {
    calls_t calls;
    int64_t looked, ms;
    bool in_mpi; /* in a call, or it tests again and again */
    bool told;
} still;

static void look(int64_t now, int every)
{
    calls_t c = calls_of_all();

    if (c.finished != still.calls.finished) {
        still.ms = 0;
        still.told = false;
    } else {
        still.ms += sw_min(now - still.looked, 2 * every);
    }
    still.in_mpi = c.inside || c.begun != still.calls.begun;
    still.calls = c;
    still.looked = now;
}

/* The report --------------------------------------------------------------- */

static pid_t start_report(pid_t about)
{
    char pid[16];
    pid_t child = fork();

    if (child)
        return child;
    /* Signals to the job's process group do not end it, but its parent's end
     * does. */
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sprintf(pid, "%d", (int)about);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl(order->command, order->command, "where", pid, NULL);
    say("%s cannot be run: %s", order->command, strerror(errno));
    _exit(127);
}

static void report(void)
{
    rank_t *about = living(0);
    pid_t child = about ? start_report(about->pid) : -1;
    int64_t end = clock_ms() + REPORT_MS;
    int fd;

    if (child < 0)
        return;
    fd = open_process(child);
    while (!wait_for(child, fd, TICK_MS) && living(0) && clock_ms() < end)
        ;
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (fd >= 0)
        close(fd);
    still.told = true;
}

static void release(void)
{
    for (size_t i = 0; i < count; i++)
        atomic_store(&ranks[i].shown->told, 1);
}

static void send_all(int signal)
{
    for (size_t i = 0; i < count; i++)
        if (!ranks[i].over)
            send_signal(&ranks[i], signal);
}

/* The launcher sees that ranks have ended by a signal, and ends the job. */
static void end_job(void)
{
    int64_t end = clock_ms() + END_MS;

    say("the job is being ended (--hang-action abort)");
    release();
    send_all(SIGTERM);
    while (living(TICK_MS) && clock_ms() < end)
        ;
    send_all(SIGKILL);
}

/* 90 as "90 s", 600 as "10 min" */
static const char *in_words(int seconds)
{
    static char text[32];
    int unit = seconds % 3600 == 0 ? 3600 : seconds % 60 == 0 ? 60 : 1;

    sprintf(text, "%d %s", seconds / unit,
            unit == 1    ? "s"
            : unit == 60 ? "min"
                         : "h");
    return text;
}

static void tell_of_hang(void)
{
    say("no rank on %s has finished an MPI call for %s", ranks[0].shown->node,
        in_words(order->seconds));
    report();
    if (order->ends_job)
        end_job();
}

/* A rank has got SIGTERM. */
static void tell_of_end(void)
{
    if (still.ms >= STILL_MS && !still.told) {
        say("the job is being ended (SIGTERM)");
        report();
    }
    release();
}

static bool is_terminating(void)
{
    for (size_t i = 0; i < count; i++)
        if (atomic_load_explicit(&ranks[i].shown->terminating,
                                 memory_order_relaxed))
            return true;
    return false;
}

/* The process -------------------------------------------------------------- */

/* Of the rank's descriptors stderr alone is kept. Its signals are not for this
 * process, but those that stop the job and let it go on are. */
static void detach(void)
{
    static const int ignored[] = {SIGINT,  SIGHUP,  SIGTERM, SIGQUIT, SIGPIPE,
                                  SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};
    sigset_t none;
    int null = open("/dev/null", O_RDWR);

    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    if (syscall(SYS_close_range, 3u, ~0u, 0u))
        for (long fd = sysconf(_SC_OPEN_MAX); fd > STDERR_FILENO; fd--)
            close((int)fd);
}

static void watch(void)
{
    int every = (int)sw_min(sw_max(order->seconds * 50, TICK_MS), LOOK_MS);
    bool terminating = false;

    still.looked = clock_ms();
    while (living(TICK_MS)) {
        int64_t now = clock_ms();
        gather(now);
        if (!terminating && (terminating = is_terminating()))
            tell_of_end();
        if (now - still.looked < every)
            continue;
        look(now, every);
        if (still.ms >= order->seconds * (int64_t)1000 && still.in_mpi &&
            !still.told && !terminating)
            tell_of_hang();
    }
}

void sw_sentry_run(const sw_sentry_t *s)
{
    order = s;
    detach();
    join(s->pid);
    if (count)
        watch();
}
