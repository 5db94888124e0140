/*
 * A thread that spins yields at each beat; the program notices nothing of it.
 */
#include "must.h"

#include "node/os/beat.h"
#include "node/os/os.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define START() sw_beat_start(sw_beat_stack())
#define LONG 2000000000u /* ns: no loaded machine takes longer for ten beats */

static void spin_until(uint64_t beats)
{
    uint64_t end = sw_os_now() + LONG;
    while (sw_beat_count() < beats && sw_os_now() < end)
        sw_os_pause();
}

static void spin(uint64_t ns)
{
    uint64_t end = sw_os_now() + ns;
    while (sw_os_now() < end)
        sw_os_pause();
}

/* A call in a call, with a frame of its own, as those have that stop it. */
__attribute__((noinline)) static bool within(void)
{
    char room[64];
    bool began = START();
    __asm__ volatile("" : : "r"(room) : "memory");
    return began;
}

static void a_spinning_thread_yields(void)
{
    uint64_t before = sw_beat_count();
    errno = 4711;
    MUST(START());
    MUST(!within()); /* it goes already */
    spin_until(before + 10);
    MUST(errno == 4711);
    sw_beat_stop();
    uint64_t after = sw_beat_count();
    MUST(after >= before + 10);
    spin(3000000);
    MUST(sw_beat_count() == after);
    sw_beat_stop(); /* harmless */
}

/* Of one that yields by itself it soon leaves off. */
static void a_yielding_thread_is_left_alone(void)
{
    uint64_t before = sw_beat_count(), end = sw_os_now() + 20000000;
    MUST(START());
    while (sw_os_now() < end)
        atomic_fetch_add(&sw_beat_yields, 1);
    sw_beat_stop();
    MUST(sw_beat_count() - before < 10);
}

static void nothing(int signal)
{
    (void)signal;
}

/* The real-time signal whose handler is not the default one. */
static int beats_signal(struct sigaction *action)
{
    for (int s = SIGRTMAX; s >= SIGRTMIN; s--)
        if (!sigaction(s, NULL, action) && action->sa_handler != SIG_DFL)
            return s;
    return 0;
}

static void a_signal_that_the_program_takes_is_its_own(void)
{
    struct sigaction ours, its = {.sa_handler = nothing};
    sigset_t all, old, pending;
    int signal = beats_signal(&ours);
    MUST(signal);
    MUST(!sigaction(signal, &its, NULL));
    MUST(!START());
    MUST(!sigaction(signal, &ours, NULL));
    sigfillset(&all);
    MUST(!pthread_sigmask(SIG_BLOCK, &all, &old));
    MUST(!START());
    spin(3000000);
    MUST(!sigpending(&pending) && !sigismember(&pending, signal));
    MUST(!pthread_sigmask(SIG_SETMASK, &old, NULL));
    MUST(START());
    sw_beat_stop();
}

/* A program may leap out of the library. This function has its own frame. */
__attribute__((noinline)) static void leap(jmp_buf back)
{
    char room[4096];
    __asm__ volatile("" : : "r"(room) : "memory");
    MUST(START());
    spin_until(sw_beat_count() + 2);
    longjmp(back, 1);
}

static void a_leap_ends_it(void)
{
    jmp_buf back;
    if (!setjmp(back))
        leap(back);
    spin(3000000);
    uint64_t before = sw_beat_count();
    spin(3000000);
    MUST(sw_beat_count() == before);
    MUST(START());
    sw_beat_stop();
}

static void *other_thread(void *unused)
{
    MUST(!START());
    return unused;
}

static void other_threads_and_children_have_none(void)
{
    pthread_t thread;
    int status;
    MUST(!pthread_create(&thread, NULL, other_thread, NULL));
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (!child)
        _exit(START());
    MUST(waitpid(child, &status, 0) == child && status == 0);
    MUST(START());
    sw_beat_stop();
}

int main(void)
{
    MUST(!START()); /* none was made */
    MUST(sw_beat_make());
    MUST(sw_beat_make());
    a_spinning_thread_yields();
    a_yielding_thread_is_left_alone();
    a_signal_that_the_program_takes_is_its_own();
    a_leap_ends_it();
    other_threads_and_children_have_none();
    sw_beat_end();
    MUST(!START());
    MUST(!beats_signal(&(struct sigaction){.sa_flags = 0}));
    return 0;
}
