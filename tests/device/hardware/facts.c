/*
 * facts.c - what the driver answers, line by line: a stand-in for it has to
 * answer alike.
 *
 * Each probe is a process of its own with ten seconds, so that one that hangs
 * or dies does not stop the others. A probe that needs two processes makes the
 * second before it opens the driver.
 */
#include "facts.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"

void fact_attributes(const char *what, at_t at)
{
    static const struct {
        int number;
        const char *name;
    } a[] = {{1, "ctx"},    {2, "type"},    {3, "dev"},     {4, "host"},
             {7, "id"},     {8, "managed"}, {9, "ordinal"}, {10, "ipc"},
             {11, "start"}, {12, "size"},   {13, "mapped"}, {14, "handles"},
             {17, "pool"}};
    printf("%s at %#llx:", what, (unsigned long long)at);
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) {
        uint64_t value = 0;
        int code = cuda.cuPointerGetAttribute(&value, a[i].number, at);
        if (code)
            printf(" %s=E%d", a[i].name, code);
        else
            printf(" %s=%#llx", a[i].name, (unsigned long long)value);
    }
    int which[] = {2, 7, 8}, code;
    uint64_t value[3] = {0};
    void *to[] = {&value[0], &value[1], &value[2]};
    code = cuda.cuPointerGetAttributes(3, which, to, at);
    printf("; plural code %d: type %u id %llu managed %u\n", code,
           (unsigned)value[0], (unsigned long long)value[1],
           (unsigned)value[2]);
}

uint64_t fact_id(at_t at)
{
    uint64_t id = 0;
    return cuda.cuPointerGetAttribute(&id, 7, at) ? 0 : id;
}

at_t fact_allocate(size_t bytes)
{
    at_t at;
    CU(cuMemAlloc_v2(&at, bytes));
    return at;
}

#define FACT_LISTED(name, function) {name, function},
static const struct {
    const char *name;
    void (*probe)(void);
} facts[] = {FACTS(FACT_LISTED)};

void mode_fact(const char *name)
{
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(facts[i].name, name) == 0)
            facts[i].probe();
}

/* Run a probe as a group of processes, and show its lines. */
static void run(const char *name)
{
    int end[2];
    char text[65536], *line, *rest = text;
    size_t n = 0;
    MUST(pipe(end) == 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        dup2(end[1], 1);
        close(end[0]);
        close(end[1]);
        execl("/proc/self/exe", "gpu", gpu_kernels, "-", "fact", name, NULL);
        _exit(127);
    }
    setpgid(child, child);
    close(end[1]);
    double begin = gpu_now();
    struct pollfd wait_for = {end[0], POLLIN, 0};
    bool late = false;
    while (n < sizeof text - 1) {
        double left = begin + 10e6 - gpu_now();
        ssize_t got = 0;
        late = left <= 0 || poll(&wait_for, 1, (int)(left / 1e3) + 1) <= 0;
        if (late || (got = read(end[0], text + n, sizeof text - 1 - n)) <= 0)
            break;
        n += (size_t)got;
    }
    int status = 0;
    kill(-child, SIGKILL);
    waitpid(child, &status, 0);
    close(end[0]);
    text[n] = 0;
    while ((line = strsep(&rest, "\n")))
        if (*line)
            printf("%s: %s\n", name, line);
    if (late)
        printf("%s: stopped after 10 s\n", name);
    else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        printf("%s: signal %d\n", name, WTERMSIG(status));
    fflush(stdout);
}

void mode_facts(void)
{
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        run(facts[i].name);
}
