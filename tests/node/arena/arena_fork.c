/*
 * fork: parent and child each see their own memory. This holds with threads,
 * with sparse blocks, with grandchildren, and from a stack that is itself a
 * block. It also holds when the child dies, or when no descriptor is left for
 * the hand-over.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "node/arena/arena.h"
#include "node/base/settings.h"
#include "sanitized.h"

#define MIB ((size_t)1 << 20)
#define CHECK(what)                                                      \
    ((what) ? (void)0                                                    \
            : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what), \
               fflush(stdout), _exit(1)))

static void join(pid_t pid)
{
    int status;
    CHECK(pid > 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool holds(const char *p, size_t n, char value)
{
    for (size_t i = 0; i < n; i += 997)
        if (p[i] != value)
            return false;
    return p[n - 1] == value;
}

static void each_sees_its_own(void)
{
    char *p = sw_arena_alloc(3 * MIB, 16), *q = sw_arena_alloc(50000, 16);
    char *freed = sw_arena_alloc(9 * MIB, 16);
    memset(p, 1, 3 * MIB);
    memset(q, 2, 50000);
    memset(freed, 9, 9 * MIB);
    sw_arena_free(freed);
    int gate[2];
    CHECK(pipe(gate) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        CHECK(sw_arena.fd == -1);
        CHECK(sw_arena_offset(p, 1) == UINT64_MAX);
        CHECK(sw_arena_is_block(p));
        CHECK(read(gate[0], &byte, 1) == 1); /* the parent has written */
        CHECK(holds(p, 3 * MIB, 1) && holds(q, 50000, 2));
        memset(p, 5, 3 * MIB);
        /* The heap goes on: free, allocate, zeroed, resized. */
        sw_arena_free(q);
        char *r = sw_arena_calloc(9 * MIB);
        CHECK(r && holds(r, 9 * MIB, 0));
        memset(r, 6, 9 * MIB);
        sw_arena_free(r);
        r = sw_arena_calloc(9 * MIB);
        CHECK(holds(r, 9 * MIB, 0));
        r = sw_arena_calloc(64 * MIB);
        CHECK(r && holds(r, 64 * MIB, 0));
        memset(r, 6, 64 * MIB);
        sw_arena_free(r);
        r = sw_arena_calloc(64 * MIB);
        CHECK(r && holds(r, 64 * MIB, 0));
        /* A grandchild is an ordinary fork. */
        pid_t grandchild = fork();
        if (grandchild == 0) {
            CHECK(holds(p, 3 * MIB, 5));
            memset(p, 7, 3 * MIB);
            sw_arena_free(sw_arena_alloc(100000, 16));
            _exit(0);
        }
        join(grandchild);
        CHECK(holds(p, 3 * MIB, 5));
        _exit(0);
    }
    memset(p, 3, 3 * MIB);
    CHECK(write(gate[1], "", 1) == 1);
    join(pid);
    CHECK(holds(p, 3 * MIB, 3) && holds(q, 50000, 2));
    CHECK(sw_arena.fd >= 0);
    close(gate[0]);
    close(gate[1]);
    sw_arena_free(p);
    sw_arena_free(q);
}

static void sparse_stays_sparse(void)
{
    struct stat before, after;
    char *p = sw_arena_alloc(2048 * MIB, 4096);
    CHECK(p);
    p[5] = 1;
    p[1024 * MIB] = 2;
    CHECK(fstat(sw_arena.fd, &before) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct rusage use;
        getrusage(RUSAGE_SELF, &use);
        CHECK(use.ru_maxrss < 512 * 1024);
        CHECK(p[5] == 1 && p[1024 * MIB] == 2 && p[2048 * MIB - 1] == 0);
        _exit(0);
    }
    join(pid);
    CHECK(fstat(sw_arena.fd, &after) == 0);
    CHECK(after.st_blocks <= before.st_blocks + 64);
    sw_arena_free(p);
}

static _Atomic bool stop;

static void *churn(void *ignored)
{
    while (!stop) {
        char *p[20];
        for (int i = 0; i < 20; i++) {
            p[i] = sw_arena_alloc(40000u << i % 8, 16);
            p[i][0] = 1;
        }
        for (int i = 0; i < 20; i++)
            sw_arena_free(p[i]);
    }
    return ignored;
}

static void with_threads(void)
{
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, churn, NULL);
    char *p = sw_arena_alloc(MIB, 16);
    memset(p, 4, MIB);
    for (int i = 0; i < 6; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            alarm(30);
            CHECK(holds(p, MIB, 4));
            memset(p, 5, MIB);
            for (int k = 0; k < 20; k++) {
                char *q = sw_arena_calloc(50000u << k % 6);
                CHECK(q && holds(q, 50000u << k % 6, 0));
                q[0] = 1;
                sw_arena_free(q);
            }
            _exit(0);
        }
        join(pid);
        CHECK(holds(p, MIB, 4));
    }
    stop = true;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    sw_arena_free(p);
}

/* A thread that stays behind keeps a freed block, beside one free page: the
 * child puts the two together. */
static int gate[2];

static void *keeps_one(void *ready)
{
    char byte, *p = sw_arena_alloc(7 * SW_PAGE, 16);
    p[0] = 1;
    sw_arena_free(p);
    CHECK(write(*(int *)ready, "", 1) == 1);
    CHECK(read(gate[0], &byte, 1) == 1);
    return NULL;
}

static void cache_of_another_thread(void)
{
    /* Nine pages free between two blocks, of which the thread takes eight. */
    char *hole[64], *between[64], byte;
    for (int i = 0; i < 64; i++) {
        hole[i] = sw_arena_alloc(8 * SW_PAGE, 16);
        between[i] = sw_arena_alloc(SW_PAGE, 16);
    }
    for (int i = 0; i < 64; i++)
        sw_arena_free(hole[i]);
    int ready[2];
    pthread_t thread;
    CHECK(pipe(gate) == 0 && pipe(ready) == 0);
    CHECK(pthread_create(&thread, NULL, keeps_one, &ready[1]) == 0);
    CHECK(read(ready[0], &byte, 1) == 1);
    alarm(60);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(30);
        for (int i = 0; i < 64; i++)
            sw_arena_free(between[i]);
        char *p = sw_arena_calloc(500 * SW_PAGE);
        CHECK(p && holds(p, 500 * SW_PAGE, 0));
        _exit(0);
    }
    join(pid);
    alarm(0);
    CHECK(write(gate[1], "", 1) == 1);
    pthread_join(thread, NULL);
    for (int i = 0; i < 64; i++)
        sw_arena_free(between[i]);
    for (int i = 0; i < 2; i++) {
        close(gate[i]);
        close(ready[i]);
    }
}

/* Killed children, and none to spare of the descriptors a pipe needs. */
static void child_dies_copying(void)
{
    char *p = sw_arena_alloc(64 * MIB, 16);
    memset(p, 4, 64 * MIB);
    struct rlimit none = {0, RLIM_INFINITY}, files;
    getrlimit(RLIMIT_NOFILE, &files);
    signal(SIGCHLD, SIG_DFL);
    alarm(60);
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            raise(SIGKILL);
        }
        int status;
        CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    }
    /* No descriptor for a pipe. */
    none.rlim_cur = 3;
    none.rlim_max = files.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(holds(p, 64 * MIB, 4));
        memset(p, 5, 64 * MIB);
        _exit(0);
    }
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    join(pid);
    CHECK(holds(p, 64 * MIB, 4));
    alarm(0);
    sw_arena_free(p);
}

/* Sanitizers follow a stack that changes only when told. */
#define CONTEXT (!SANITIZED)

#if CONTEXT
static ucontext_t here, there;

static void on_block(void)
{
    volatile char local[1000];
    memset((char *)local, 8, sizeof local);
    pid_t pid = sw_arena_fork(fork);
    if (pid == 0) {
        CHECK(local[999] == 8);
        memset((char *)local, 9, sizeof local);
        char *p = sw_arena_alloc(100000, 16);
        memset(p, 1, 100000);
        _exit(0);
    }
    join(pid);
    CHECK(local[0] == 8 && local[999] == 8);
}

static void stack_in_a_block(void)
{
    char *stack = sw_arena_alloc(MIB, 64);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = MIB;
    there.uc_link = &here;
    makecontext(&there, on_block, 0);
    swapcontext(&here, &there);
    sw_arena_free(stack);
}
#endif

static void program_closed_everything(void)
{
    char *p = sw_arena_alloc(2 * MIB, 16);
    memset(p, 4, 2 * MIB);
    pid_t outer = fork(); /* not the arena's owner any more ... */
    if (outer == 0)
        _exit(0);
    join(outer);
    close(sw_arena.fd); /* ... but this one is */
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(holds(p, 2 * MIB, 4));
        memset(p, 5, 2 * MIB);
        _exit(0);
    }
    join(pid);
    CHECK(holds(p, 2 * MIB, 4));
}

int main(void)
{
    sw_settings_load();
    sw_settings.arena_static = false;
    sw_arena_start();
    CHECK(sw_arena.fd >= 0);
    each_sees_its_own();
    sparse_stays_sparse();
    with_threads();
    cache_of_another_thread();
    child_dies_copying();
#if CONTEXT
    stack_in_a_block();
#endif
    program_closed_everything();
    puts("ok");
    return 0;
}
