/*
 * os_linux_beat.c - the part of the door to Linux that lets a thread yield from
 * a signal; see beat.h.
 *
 * The handler makes two system calls, keeps errno, and reads nothing that
 * the interrupted code may be writing.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "beat.h"

#include "os.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 100000 /* ns */
#define IDLE 2        /* beats that find nothing to do are the last ones */

_Thread_local bool sw_beat_there;
_Atomic unsigned sw_beat_yields;

static struct {
    int timer; /* the kernel's number */
    int signal;
    pid_t process;
    bool going;
    uintptr_t stack; /* of the function that started it */
    unsigned yields; /* when the last beat ended */
    uint64_t waits;
    int idle; /* beats in a row that found nothing to do */
    _Atomic uint64_t count;
} beat;

static void set(long period)
{
    struct itimerspec every = {{0, period}, {0, period}};
    syscall(SYS_timer_settime, beat.timer, 0, &every, NULL);
}

/* Has the thread given its core away by itself since the last beat? */
static bool has_yielded(void)
{
    unsigned yields = atomic_load_explicit(&sw_beat_yields,
                                           memory_order_relaxed);
    uint64_t waits = sw_os_core().waits;
    bool has = yields != beat.yields || waits != beat.waits;
    beat.yields = yields;
    beat.waits = waits;
    return has;
}

static uintptr_t stack_of(const ucontext_t *at)
{
#if defined(__x86_64__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_RSP];
#else
    return (uintptr_t)at->uc_mcontext.sp;
#endif
}

static void yield(int signal, siginfo_t *why, void *at)
{
    int error = errno;
    (void)signal;
    (void)why;
    if (stack_of(at) > beat.stack) {
        beat.going = false;
        set(0);
    } else if (!has_yielded()) {
        beat.idle = 0;
        atomic_fetch_add_explicit(&beat.count, 1, memory_order_relaxed);
        sw_os_yield();
    } else if (++beat.idle == IDLE) {
        set(0);
    }
    errno = error;
}

static bool is_ours(void)
{
    struct sigaction now;
    return !sigaction(beat.signal, NULL, &now) && now.sa_flags & SA_SIGINFO &&
           now.sa_sigaction == yield;
}

/* A real-time signal that has its default action: the last but two, or one
 * before. Debuggers and thread libraries take the first ones. 0: none. */
static int free_signal(void)
{
    struct sigaction now;
    for (int s = SIGRTMAX - 2; s >= SIGRTMIN; s--)
        if (!sigaction(s, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL)
            return s;
    return 0;
}

bool sw_beat_make(void)
{
    struct sigaction action = {.sa_sigaction = yield,
                               .sa_flags = SA_RESTART | SA_ONSTACK |
                                           SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = free_signal()};
    if (sw_beat_there)
        return true;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (!event.sigev_signo || sw_os_refused(SW_DOOR_TIMER) ||
        event._sigev_un._tid != getpid())
        return false;
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &beat.timer))
        return false;
    sigfillset(&action.sa_mask);
    if (sigaction(event.sigev_signo, &action, NULL)) {
        syscall(SYS_timer_delete, beat.timer);
        return false;
    }
    beat.signal = event.sigev_signo;
    beat.process = getpid();
    return sw_beat_there = true;
}

void sw_beat_end(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    if (!sw_beat_there || getpid() != beat.process)
        return;
    sw_beat_there = false;
    syscall(SYS_timer_delete, beat.timer);
    if (is_ours())
        sigaction(beat.signal, &plain, NULL);
}

/* A blocked signal would stay pending, and a sigwait of the program's could
 * take it. */
static bool is_blocked(void)
{
    sigset_t blocked;
    return pthread_sigmask(SIG_BLOCK, NULL, &blocked) ||
           sigismember(&blocked, beat.signal);
}

bool sw_beat_start(uintptr_t stack)
{
    if (!sw_beat_there || (beat.going && stack < beat.stack) ||
        getpid() != beat.process || !is_ours() || is_blocked())
        return false;
    beat.going = true;
    beat.stack = stack;
    beat.idle = 0;
    has_yielded(); /* so far */
    set(PERIOD);
    return true;
}

void sw_beat_stop(void)
{
    if (!sw_beat_there || !beat.going)
        return;
    beat.going = false;
    set(0);
}

uint64_t sw_beat_count(void)
{
    return atomic_load_explicit(&beat.count, memory_order_relaxed);
}
