/*
 * fork_ways.c - every way to make a process: parent and child each see their
 * own memory, and the heap works in both.
 *
 *   fork_ways handlers | cancel | bare | clones | stack | starts
 *
 * Linked with fork_handlers.c. With WITHOUT_MPI there is no MPI, and all that
 * is shared is so from its birth (STRAIGHTWAY_SHOW=eager).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifdef WITHOUT_MPI
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define CHECK(what, ...)                                                     \
    ((what) ? (void)0                                                        \
            : (printf("line %d: ", __LINE__), printf(__VA_ARGS__), puts(""), \
               fflush(stdout), _exit(1)))
#else
#include "mpi/test.h"
#endif
#include <errno.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#if !__GLIBC_PREREQ(2, 34) /* it has no _Fork */
#define _Fork fork
#endif

#define BYTES ((size_t)1 << 20)
#define STACK ((size_t)256 << 10)

extern char **environ;
extern char *handlers_write;
extern size_t handlers_bytes;
extern int handlers_ran;

static char *block;

/* A block that peers read, so that they share its pages. */
static char *shown(size_t bytes)
{
    char *p = calloc(1, bytes);
    CHECK(p, "no memory");
#ifndef WITHOUT_MPI
    char *sum = calloc(1, bytes);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(p, sum, (int)bytes, MPI_SIGNED_CHAR, MPI_MAX,
                      MPI_COMM_WORLD);
    free(sum);
#endif
    return p;
}

static bool holds(const char *p, size_t n, char value)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value)
            return false;
    return true;
}

static void use_heap(void)
{
    for (int i = 0; i < 20; i++) {
        char *p = malloc((size_t)100000 << i % 5);
        if (!p)
            _exit(8);
        p[0] = 1;
        free(p);
    }
}

/* What each child does: its memory is as at the fork, and its own. */
static int child_of(void *unused)
{
    alarm(20);
    if (!holds(block, BYTES, 'p'))
        _exit(7);
    memset(block, 'x', BYTES);
    use_heap();
    _exit(3);
    return unused != NULL;
}

static void join(pid_t pid)
{
    int status;
    CHECK(pid > 0, "no child");
    CHECK(waitpid(pid, &status, __WALL) == pid && WIFEXITED(status),
          "the child was killed (status %x)", status);
    CHECK(WEXITSTATUS(status) == 3, "the child ended with %d",
          WEXITSTATUS(status));
    CHECK(holds(block, BYTES, 'p'), "the parent sees what the child wrote");
    use_heap();
}

/* Handlers that are older than ours: they find memory of the child's own, and
 * may allocate. */
static void handlers(void)
{
    handlers_write = block;
    handlers_bytes = BYTES;
    for (int i = 0; i < 3; i++) {
        int before = handlers_ran;
        pid_t pid = fork();
        if (pid == 0)
            _exit(holds(block, BYTES, 'c') ? 3 : 7);
        CHECK(handlers_ran == before + 2, "the handlers ran");
        join(pid);
    }
    handlers_write = NULL;
}

/* A thread forks while somebody wants it to end. */
static int told[2];

static void *forks(void *kind)
{
    char byte;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    if (read(told[0], &byte, 1) != 1)
        abort();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pid_t pid = *(int *)kind ? _Fork() : fork();
    if (pid == 0)
        child_of(NULL);
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    if (state != PTHREAD_CANCEL_ENABLE)
        abort();
    join(pid);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_testcancel();
    return NULL;
}

static void cancel(void)
{
    CHECK(pipe(told) == 0, "no pipe");
    for (int kind = 0; kind < 2; kind++) {
        pthread_t thread;
        void *end;
        CHECK(pthread_create(&thread, NULL, forks, &kind) == 0, "no thread");
        pthread_cancel(thread);
        CHECK(write(told[1], "", 1) == 1, "pipe");
        pthread_join(thread, &end);
        CHECK(end == PTHREAD_CANCELED, "it was cancelled");
        use_heap();
        pid_t pid = fork();
        if (pid == 0)
            child_of(NULL);
        join(pid);
    }
}

/* _Fork calls no handlers, and may be called in a signal handler. */
static volatile pid_t forked;

static void forks_bare(int unused)
{
    (void)unused;
    forked = _Fork();
    if (forked == 0)
        child_of(NULL);
}

/* ... at any moment: then its child may not allocate. */
static void forks_anywhere(int unused)
{
    (void)unused;
    int status, saved = errno;
    pid_t pid = _Fork();
    if (pid == 0) {
        bool right = holds(block, BYTES, 'p');
        memset(block, 'x', BYTES);
        _exit(right ? 3 : 7);
    }
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 3)
        _exit(9);
    forked++;
    errno = saved;
}

static void bare(void)
{
    pid_t pid = _Fork();
    if (pid == 0)
        child_of(NULL);
    join(pid);
    signal(SIGUSR1, forks_bare);
    raise(SIGUSR1);
    join(forked);
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {0};
    forked = 0;
    signal(SIGVTALRM, forks_anywhere);
    setitimer(ITIMER_VIRTUAL, &often, NULL);
    while (forked < 20)
        use_heap();
    setitimer(ITIMER_VIRTUAL, &never, NULL);
    CHECK(holds(block, BYTES, 'p'), "the parent sees what a child wrote");
}

/* Without CLONE_VM a child is as fork's, on a stack that the program chooses,
 * here one that is shared. */
static void clones(void)
{
    static const int kinds[] = {
        SIGCHLD,
        SIGCHLD | CLONE_FILES,
        SIGCHLD | CLONE_FS | CLONE_VFORK,
        SIGCHLD | CLONE_FILES | CLONE_VFORK,
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *stack = shown(STACK);
        pid_t pid = clone(child_of, stack + STACK, kinds[i], NULL);
        join(pid);
        free(stack);
        stack = malloc(STACK);
        join(clone(child_of, stack + STACK, kinds[i], NULL));
        free(stack);
    }
    int parent_tid = 0;
    char *stack = malloc(STACK);
    pid_t pid = clone(child_of, stack + STACK, SIGCHLD | CLONE_PARENT_SETTID,
                      NULL, &parent_tid);
    CHECK(parent_tid == pid, "clone's further arguments");
    join(pid);
    free(stack);
}

/* On a stack that is itself shared. */
static ucontext_t here, there;
static int on_stack_kind;

static void on_stack(void)
{
    volatile char local[3000];
    memset((char *)local, 8, sizeof local);
    pid_t pid = on_stack_kind ? _Fork() : fork();
    if (pid == 0) {
        alarm(20);
        memset((char *)local, 9, sizeof local);
        child_of(NULL);
    }
    join(pid);
    CHECK(holds((char *)local, sizeof local, 8), "its stack is its own");
}

static void stack(void)
{
    for (on_stack_kind = 0; on_stack_kind < 2; on_stack_kind++) {
        char *at = shown(STACK);
        getcontext(&there);
        there.uc_stack.ss_sp = at;
        there.uc_stack.ss_size = STACK;
        there.uc_link = &here;
        makecontext(&there, on_stack, 0);
        swapcontext(&here, &there);
        free(at);
    }
}

/* Those that libc makes without calling fork by its name, and those that start
 * another program. */
static void starts(void)
{
    int terminal, status;
    pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
    if (pid == 0)
        child_of(NULL);
    join(pid);
    close(terminal);
    CHECK(WEXITSTATUS(system("exit 4")) == 4, "system");
    FILE *f = popen("echo seven", "r");
    char text[16] = "";
    CHECK(f && fgets(text, sizeof text, f) && !strcmp(text, "seven\n"),
          "popen");
    pclose(f);
    char *command[] = {"sh", "-c", "exit 3", NULL};
    CHECK(posix_spawn(&pid, "/bin/sh", NULL, NULL, command, environ) == 0,
          "posix_spawn");
    join(pid);
    pid = vfork();
    if (pid == 0) {
        execv("/bin/sh", command);
        _exit(9);
    }
    join(pid);
    pid = fork();
    if (pid == 0) { /* daemon() leaves, its child goes on */
        if (daemon(1, 1) || !holds(block, BYTES, 'p'))
            _exit(7);
        memset(block, 'x', BYTES);
        use_heap();
        _exit(3);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
              WEXITSTATUS(status) == 0,
          "daemon");
    CHECK(holds(block, BYTES, 'p'), "the parent sees what a daemon wrote");
}

int main(int argc, char **argv)
{
#ifndef WITHOUT_MPI
    test_start(&argc, &argv);
#endif
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"handlers", handlers}, {"cancel", cancel}, {"bare", bare},
                {"clones", clones},     {"stack", stack},   {"starts", starts}};
    alarm(40);
    block = shown(BYTES);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (argc > 1 && strcmp(argv[1], ways[i].name))
            continue;
        memset(block, 'p', BYTES);
        ways[i].run();
    }
    free(block);
#ifdef WITHOUT_MPI
    puts("all is well");
#else
    test_end();
#endif
    return 0;
}
