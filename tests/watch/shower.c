/*
 * shower.c - a process that shows a watch file, for test_reader.py.
 *
 *     shower WAY
 *
 * It makes the file, prints "ready" and what the test must know, and then:
 *
 *   inside    waits in a call, below a chain of known functions
 *   hidden    the same, and has closed the descriptor
 *   gone      the same, and its program has been removed
 *   busy      computes, below the chain
 *   sleeps    sleeps, below the chain
 *   tears     writes one call after another, each of numbers that are alike
 *   tears-hidden   the same, and has closed the descriptor
 *   forks     the same as `inside`, with a child that has the descriptor
 *   tables    waits in a call, with something in each table
 *   strange   shows a file of another version
 */
#include "watch/watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "must.h"

static sw_watch_t *w;
static const char *way;
static int fd;

static sw_watch_time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (sw_watch_time_t){t.tv_sec, t.tv_nsec};
}

static void make(void)
{
    fd = memfd_create(SW_WATCH_NAME, MFD_CLOEXEC);
    MUST(fd >= 0 && !ftruncate(fd, sizeof *w));
    w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MUST(w != MAP_FAILED);
    w->version = SW_WATCH_VERSION + !strcmp(way, "strange");
    w->size = sizeof *w;
    w->pid = getpid();
    w->rank = 3;
    w->ranks = 4;
    w->node_ranks = 2;
    strcpy(w->job, "job");
    strcpy(w->flavour, "mpich");
    strcpy(w->program, "a\"b\\c\n\xff\xc3\xa9");
    w->started = now();
    w->magic = SW_WATCH_MAGIC;
}

static void enter(sw_watch_thread_t *t, uint64_t n, sw_watch_from_t from)
{
    sw_watch_time_t began = now();

    atomic_store_explicit(&t->turn, t->turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    t->call = (sw_watch_call_t){
        .procedure = 5,
        .has = 2 * SW_WATCH_HAS_BEGAN - 1,
        .comm = 1,
        .peer = (int32_t)n,
        .tag = (int32_t)n,
        .to = (int32_t)n,
        .to_tag = (int32_t)n,
        .root = SW_WATCH_NOBODY,
        .bytes = n,
        .number = n,
        .requests = n,
        .began = began,
        .from = from,
    };
    t->inside = true;
    atomic_store_explicit(&t->turn, t->turn + 1, memory_order_release);
}

static void say(const char *more)
{
    printf("ready %s\n", more);
    fflush(stdout);
}

/* The registers of the caller, as they are after its return. */
static __attribute__((noinline)) void call(void)
{
    sw_watch_from_t from;
    uintptr_t *bp = __builtin_frame_address(0);

    from.bp = bp[0];
    from.pc = bp[1];
    from.sp = (uintptr_t)(bp + 2);
    enter(&w->threads[1], 7, from);
    if (!strcmp(way, "hidden")) {
        close(fd);
    } else if (!strcmp(way, "forks")) {
        char child[32];
        pid_t pid = fork();
        if (!pid) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
        sprintf(child, "%d", (int)pid);
        say(child);
        for (;;)
            pause();
    }
    say("");
    for (;;)
        pause();
}

static __attribute__((noinline)) void compute(void)
{
    say("");
    for (volatile uint64_t n = 0;; n++)
        ;
}

static __attribute__((noinline)) void rest(void)
{
    say("");
    for (;;)
        sleep(1000);
}

static void tear(void)
{
    if (!strcmp(way, "tears-hidden"))
        close(fd);
    say("");
    for (uint64_t n = 1;; n = n % 1000000 + 1)
        enter(&w->threads[1], n, (sw_watch_from_t){0, 0, 0});
}

static void fill(void)
{
    sw_watch_comm_t *c = &w->comms[1];
    *c = (sw_watch_comm_t){.id = 0xabc, .size = 4, .rank = 3, .begun = 10};
    memset(c->name, 'x', sizeof c->name); /* no zero at the end */
    for (uint32_t i = 0; i < SW_WATCH_RECENT; i++) {
        c->recent[i].procedure = i;
        c->recent[i].root = i ? SW_WATCH_NOBODY : 2;
    }
    sw_watch_pair_t *p = &w->pairs[SW_WATCH_PAIRS - 1];
    *p = (sw_watch_pair_t){.comm = 1, .peer = 2, .sends = true, .messages = 9};
    for (int i = 0; i < SW_WATCH_TAGS; i++)
        p->latest[i] = i == 1 ? 5 : SW_WATCH_NOBODY;
    p->tag_sum = 45;
    p->tag_squares = UINT64_MAX;
    w->requests[9000] = (sw_watch_request_t){
        .kind = SW_WATCH_RECEIVES,
        .active = true,
        .procedure = 0,
        .comm = 1,
        .peer = SW_WATCH_ANY,
        .tag = SW_WATCH_ANY,
        .bytes = 11,
        .pc = (uintptr_t)&compute + 1,
        .waited = getpid(),
    };
    sw_watch_window_t *n = &w->windows[2];
    *n = (sw_watch_window_t){.comm = 1,
                             .number = 1,
                             .fences = 2,
                             .locked = SW_WATCH_ANY,
                             .origin_count = 1};
    for (size_t i = 0; i < SW_WATCH_GROUP; i++)
        n->origins[i] = n->targets[i] = SW_WATCH_NOBODY;
    n->origins[0] = 1;
}

/* Each has work left after its call, and so a frame of its own. */
static volatile int left;

static __attribute__((noinline)) void innermost(char *room)
{
    room[1] = 1;
    if (!strcmp(way, "busy"))
        compute();
    else if (!strcmp(way, "sleeps"))
        rest();
    else if (!strncmp(way, "tears", 5))
        tear();
    else
        call();
    left++;
}

static __attribute__((noinline)) void middle(int size)
{
    innermost(__builtin_alloca((size_t)size)); /* by the frame pointer */
    left++;
}

static __attribute__((noinline)) void outermost(void)
{
    char room[900];
    room[left] = 1;
    middle(300 + room[left]);
    left += room[left];
}

/* Of a Python process, whose thread is in a call from now on. */
void show_python(uint64_t thread, const uint32_t *layout, int count)
{
    sw_watch_from_t from = {(uintptr_t)&rest + 1, 0, 0};

    way = "python";
    make();
    memcpy(w->python, layout, (size_t)count * sizeof *layout);
    w->threads[0].tid = getpid();
    w->threads[0].python = thread;
    enter(&w->threads[0], 7, from);
}

int main(int argc, char **argv)
{
    MUST(argc == 2);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    way = argv[1];
    make();
    if (!strcmp(way, "gone"))
        unlink(argv[0]);
    if (!strcmp(way, "tables"))
        fill();
    w->threads[1].call.procedure = SW_WATCH_NO_CALL;
    w->threads[1].tid = getpid();
    outermost();
    return 0;
}
