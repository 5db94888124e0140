/*
 * main.c - straightway-where: where the processes of MPI jobs are now.
 *
 *   straightway-where [--list | --no-sample] [PID...]
 *
 * One JSON object on stdout tells of all processes of this user that show a
 * watch file (watch/watch.h), or of those that are named:
 *
 *   {"format": 1, "node": "n1", "now": 1700000000.5,
 *    "processes": [...], "refused": [{"pid": 1, "why": "no such process"}]}
 *
 *   --list       no stacks
 *   --no-sample  stacks of MPI calls only: no thread is stopped
 *
 *   straightway-where --sentry PID SECONDS ACTION COMMAND
 *
 * watches the job of a process until the job ends (sentry.h).
 *
 * Reading changes nothing in a process. See report.h for what is told.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "display.h"
#include "json.h"
#include "report.h"
#include "sentry.h"
#include "task.h"

/* Refused ones are told after the others. */
typedef struct {
    pid_t pid;
    char why[120];
} refusal_t;

static refusal_t *refusals;
static size_t refused;
static sw_report_options_t options = {.stacks = true, .samples = true};

static void refuse(pid_t pid, const char *why)
{
    refusal_t *more = realloc(refusals, (refused + 1) * sizeof *refusals);

    if (!more)
        return;
    refusals = more;
    refusals[refused].pid = pid;
    snprintf(refusals[refused++].why, sizeof refusals->why, "%s", why);
}

/* NULL: it may be looked at. */
static const char *stranger(pid_t pid)
{
    static char why[120];
    char path[64];
    struct stat st;

    sprintf(path, "/proc/%d", (int)pid);
    if (stat(path, &st))
        return "no such process";
    if (sw_task_state(pid, pid) == 'Z')
        return "has ended, and its parent has not noticed yet";
    if (geteuid() == 0 || st.st_uid == geteuid())
        return NULL;
    const struct passwd *user = getpwuid(st.st_uid);
    if (user)
        snprintf(why, sizeof why, "belongs to another user (%s)",
                 user->pw_name);
    else
        snprintf(why, sizeof why, "belongs to another user (%u)",
                 (unsigned)st.st_uid);
    return why;
}

/* `asked`: the user named it, and is told why it is not shown. */
static void look(pid_t pid, bool asked)
{
    sw_space_t space = {.pid = pid};
    static sw_display_t d;
    const char *why = asked ? stranger(pid) : NULL;

    if (!why) {
        why = sw_display_open(&d, &space);
        if (!why) {
            why = sw_report_process(&d, &options) ? NULL : "has ended";
            sw_display_close(&d);
        } else if (!*why) {
            why = "runs without Straightway";
        }
        asked |= d.broken;
    }
    sw_space_close(&space);
    if (why && asked)
        refuse(pid, why);
}

static int by_number(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

/* All processes of this user, but this one. */
static void look_around(void)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    struct stat st;
    pid_t *pids = NULL;
    size_t count = 0, room = 0;

    while (dir && (e = readdir(dir))) {
        pid_t pid = isdigit((unsigned char)*e->d_name) ? atoi(e->d_name) : 0;
        if (pid <= 0 || pid == getpid() ||
            fstatat(dirfd(dir), e->d_name, &st, 0) || st.st_uid != geteuid())
            continue;
        if (count == room) {
            room = room ? 2 * room : 256;
            pid_t *more = realloc(pids, room * sizeof *pids);
            if (!more)
                break;
            pids = more;
        }
        pids[count++] = pid;
    }
    if (dir)
        closedir(dir);
    if (pids)
        qsort(pids, count, sizeof *pids, by_number);
    for (size_t i = 0; i < count; i++)
        look(pids[i], false);
    free(pids);
}

static void put_refusals(void)
{
    sw_json_begin("refused", '[');
    for (size_t i = 0; i < refused; i++) {
        sw_json_begin(NULL, '{');
        sw_json_number("pid", refusals[i].pid);
        sw_json_text("why", refusals[i].why);
        sw_json_end();
    }
    sw_json_end();
}

static int usage(void)
{
    fprintf(stderr, "straightway-where [--list | --no-sample] [PID...]\n");
    return 2;
}

/* A process number; 0: it is none. */
static pid_t number(const char *word)
{
    char *end;
    long n = strtol(word, &end, 10);

    return *word && !*end && n > 0 && n <= INT32_MAX ? (pid_t)n : 0;
}

int main(int argc, char **argv)
{
    char node[256] = "";
    struct timespec now;
    int first = 1;

    if (argc == 6 && !strcmp(argv[1], "--sentry")) {
        const sw_sentry_t s = {.pid = number(argv[2]),
                               .seconds = number(argv[3]),
                               .ends_job = !strcmp(argv[4], "abort"),
                               .command = argv[5]};
        if (!s.pid || !s.seconds)
            return usage();
        sw_sentry_run(&s);
        return 0;
    }
    for (; first < argc && *argv[first] == '-'; first++)
        if (!strcmp(argv[first], "--list"))
            options = (sw_report_options_t){false, false};
        else if (!strcmp(argv[first], "--no-sample"))
            options.samples = false;
        else
            return usage();
    for (int i = first; i < argc; i++)
        if (!number(argv[i]))
            return usage();
    signal(SIGPIPE, SIG_IGN);
    gethostname(node, sizeof node - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    sw_json_begin(NULL, '{');
    sw_json_number("format", 1);
    sw_json_text("node", node);
    sw_json_real("now", (double)now.tv_sec + (double)now.tv_nsec * 1e-9);
    sw_json_begin("processes", '[');
    for (int i = first; i < argc; i++)
        look(number(argv[i]), true);
    if (first == argc)
        look_around();
    sw_json_end();
    put_refusals();
    sw_json_end();
    free(refusals);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "straightway-where: %s\n", strerror(errno));
        return 1;
    }
    return 0;
}
