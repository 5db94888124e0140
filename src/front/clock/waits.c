/*
 * waits.c - see waits.h.
 *
 * The thread really sleeps, for the world outside the process goes by real
 * time. Then it tells virtual time for how long the program asked, less the
 * rest that a signal has cut off. A wait with a time limit counts as a sleep
 * where the limit ended it, and takes no time otherwise. So a thread that waits
 * in a loop until its clock says enough gets there.
 *
 * A deadline on a virtual clock is as far ahead of the real clock as it is of
 * the virtual one. An attribute of a condition variable says to which clock its
 * deadlines belong. The deadline itself shows it, too: one clock counts from
 * 1970, and the other from the machine's start.
 */
#include "waits.h"
#include "clocks.h"
#include "node/os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/select.h>
#include <threads.h>
#include <unistd.h>

#define NS 1000000000

static struct {
    int (*nanosleep)(const struct timespec *, struct timespec *);
    int (*clock_nanosleep)(clockid_t, int, const struct timespec *,
                           struct timespec *);
    int (*usleep)(useconds_t);
    unsigned (*sleep)(unsigned);
    int (*thrd_sleep)(const struct timespec *, struct timespec *);
    int (*select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
    int (*poll)(struct pollfd *, nfds_t, int);
    int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *,
                          const struct timespec *);
    int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                          const struct timespec *);
    int (*sem_timedwait)(sem_t *, const struct timespec *);
    int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
} next;

/* Of two versions of a name dlsym may choose the older. */
static void *newest(const char *name, const char *version)
{
    void *found = dlvsym(RTLD_NEXT, name, version);
    return found ? found : dlsym(RTLD_NEXT, name);
}

void sw_waits_look_up(void)
{
#define LOOK(field, name) *(void **)&next.field = dlsym(RTLD_NEXT, name)
    LOOK(nanosleep, "nanosleep");
    LOOK(clock_nanosleep, "clock_nanosleep");
    LOOK(usleep, "usleep");
    LOOK(sleep, "sleep");
    LOOK(thrd_sleep, "thrd_sleep");
    LOOK(select, "select");
    LOOK(poll, "poll");
    LOOK(cond_clockwait, "pthread_cond_clockwait");
    LOOK(sem_clockwait, "sem_clockwait");
    LOOK(sem_timedwait, "sem_timedwait");
    *(void **)&next.cond_timedwait = newest("pthread_cond_timedwait",
                                            "GLIBC_2.3.2");
}

/* A constructor before ours has called: look now. */
#define READY(field)                  \
    do {                              \
        if (sw_unlikely(!next.field)) \
            sw_waits_look_up();       \
    } while (false)

#define CALLER() __builtin_extract_return_addr(__builtin_return_address(0))

static int64_t ns_of(const struct timespec *t)
{
    return t ? (int64_t)t->tv_sec * NS + t->tv_nsec : 0;
}

static struct timespec moment(int64_t ns)
{
    ns = ns > 0 ? ns : 0;
    return (struct timespec){(time_t)(ns / NS), (long)(ns % NS)};
}

static bool good(const struct timespec *t)
{
    return t && t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < NS;
}

/* Sleeps ---------------------------------------------------------------- */

SW_API int nanosleep(const struct timespec *time, struct timespec *left)
{
    struct timespec own = {0, 0};
    READY(nanosleep);
    if (sw_likely(!sw_clocks_sleep(CALLER())))
        return next.nanosleep(time, left);
    sw_clocks_sleeps(ns_of(time));
    int result = next.nanosleep(time, &own), error = errno;
    if (result == 0 || error == EINTR)
        sw_clocks_slept(ns_of(time) - ns_of(&own));
    if (left && result)
        *left = own;
    errno = error;
    return result;
}

SW_API int thrd_sleep(const struct timespec *time, struct timespec *left)
{
    struct timespec own = {0, 0};
    READY(thrd_sleep);
    if (sw_likely(!sw_clocks_sleep(CALLER())))
        return next.thrd_sleep(time, left);
    sw_clocks_sleeps(ns_of(time));
    int result = next.thrd_sleep(time, &own);
    if (result == 0 || result == -1)
        sw_clocks_slept(ns_of(time) - ns_of(&own));
    if (left && result)
        *left = own;
    return result;
}

/* It has slept for `ns`, or since `begin` where a signal has ended that. */
static void slept(int64_t ns, bool ended, int64_t begin)
{
    sw_clocks_slept(ended ? sw_clocks_real(CLOCK_MONOTONIC) - begin : ns);
}

/* Until a moment, by the clock that the program sees. */
static int sleep_until(clockid_t clock, const struct timespec *until,
                       bool virtual)
{
    int64_t now = virtual ? sw_clocks_seen(clock) : sw_clocks_real(clock);
    int64_t time = ns_of(until) - now, begin = sw_clocks_real(CLOCK_MONOTONIC);
    if (time <= 0)
        return 0;
    struct timespec t = moment(time);
    sw_clocks_sleeps(time);
    int result = virtual
                     ? next.clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL)
                     : next.clock_nanosleep(clock, TIMER_ABSTIME, until, NULL);
    if (result == 0 || result == EINTR)
        slept(time, result, begin);
    return result;
}

SW_API int clock_nanosleep(clockid_t clock, int flags,
                           const struct timespec *time, struct timespec *left)
{
    struct timespec own = {0, 0};
    const void *from = CALLER();
    READY(clock_nanosleep);
    if (sw_likely(!sw_clocks_sleep(from)) || !good(time) ||
        clock == CLOCK_PROCESS_CPUTIME_ID || clock < 0)
        return next.clock_nanosleep(clock, flags, time, left);
    if (flags & TIMER_ABSTIME)
        return sleep_until(clock, time, sw_clocks_virtual(clock, from));
    sw_clocks_sleeps(ns_of(time));
    int result = next.clock_nanosleep(clock, flags, time, &own);
    if (result == 0 || result == EINTR)
        sw_clocks_slept(ns_of(time) - ns_of(&own));
    if (left && result == EINTR)
        *left = own;
    return result;
}

SW_API int usleep(useconds_t us)
{
    READY(usleep);
    if (sw_likely(!sw_clocks_sleep(CALLER())))
        return next.usleep(us);
    int64_t ns = (int64_t)us * 1000, begin = sw_clocks_real(CLOCK_MONOTONIC);
    sw_clocks_sleeps(ns);
    int result = next.usleep(us), error = errno;
    if (result == 0 || error == EINTR)
        slept(ns, result, begin);
    errno = error;
    return result;
}

SW_API unsigned sleep(unsigned seconds)
{
    READY(sleep);
    if (sw_likely(!sw_clocks_sleep(CALLER())))
        return next.sleep(seconds);
    int64_t ns = (int64_t)seconds * NS;
    int64_t begin = sw_clocks_real(CLOCK_MONOTONIC);
    sw_clocks_sleeps(ns);
    unsigned left = next.sleep(seconds);
    slept(ns, left, begin);
    return left;
}

SW_API int select(int n, fd_set *restrict read, fd_set *restrict write,
                  fd_set *restrict except, struct timeval *restrict time)
{
    READY(select);
    if (sw_likely(!sw_clocks_sleep(CALLER())) || !time)
        return next.select(n, read, write, except, time);
    int64_t ns = (int64_t)time->tv_sec * NS + time->tv_usec * 1000;
    if (!n)
        sw_clocks_sleeps(ns);
    int result = next.select(n, read, write, except, time), error = errno;
    if (result == 0)
        sw_clocks_slept(ns);
    errno = error;
    return result;
}

SW_API int poll(struct pollfd *what, nfds_t n, int ms)
{
    READY(poll);
    if (sw_likely(!sw_clocks_sleep(CALLER())))
        return next.poll(what, n, ms);
    if (!n)
        sw_clocks_sleeps((int64_t)ms * 1000000);
    int result = next.poll(what, n, ms), error = errno;
    if (result == 0 && ms > 0)
        sw_clocks_slept((int64_t)ms * 1000000);
    errno = error;
    return result;
}

/* Until something happens ------------------------------------------------ */

/* A moment, as it is waited for. */
typedef struct {
    struct timespec real;
    int64_t time; /* ns from now */
} until_t;

static until_t until(clockid_t clock, const struct timespec *at,
                     const void *from)
{
    bool virtual = sw_clocks_virtual(clock, from);
    int64_t real = sw_clocks_real(clock);
    int64_t time = ns_of(at) - (virtual ? sw_clocks_seen(clock) : real);
    return (until_t){virtual ? moment(real + time) : *at, time};
}

static int waited(int result, int error, const until_t *u)
{
    if (error == ETIMEDOUT)
        sw_clocks_slept(u->time);
    return result;
}

/* The clock that is nearer. */
static clockid_t clock_of(const struct timespec *at)
{
    int64_t real = ns_of(at) - sw_clocks_real(CLOCK_REALTIME);
    int64_t since = ns_of(at) - sw_clocks_real(CLOCK_MONOTONIC);
    return llabs(real) <= llabs(since) ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

SW_API int pthread_cond_timedwait(pthread_cond_t *restrict condition,
                                  pthread_mutex_t *restrict mutex,
                                  const struct timespec *restrict at)
{
    const void *from = CALLER();
    READY(cond_timedwait);
    if (sw_likely(!sw_clocks_sleep(from)) || !good(at))
        return next.cond_timedwait(condition, mutex, at);
    until_t u = until(clock_of(at), at, from);
    int result = next.cond_timedwait(condition, mutex, &u.real);
    return waited(result, result, &u);
}

SW_API int pthread_cond_clockwait(pthread_cond_t *restrict condition,
                                  pthread_mutex_t *restrict mutex,
                                  clockid_t clock,
                                  const struct timespec *restrict at)
{
    const void *from = CALLER();
    READY(cond_clockwait);
    if (sw_unlikely(!next.cond_clockwait)) /* glibc before 2.30 */
        return EINVAL;
    if (sw_likely(!sw_clocks_sleep(from)) || !good(at))
        return next.cond_clockwait(condition, mutex, clock, at);
    until_t u = until(clock, at, from);
    int result = next.cond_clockwait(condition, mutex, clock, &u.real);
    return waited(result, result, &u);
}

SW_API int sem_timedwait(sem_t *restrict semaphore,
                         const struct timespec *restrict at)
{
    const void *from = CALLER();
    READY(sem_timedwait);
    if (sw_likely(!sw_clocks_sleep(from)) || !good(at))
        return next.sem_timedwait(semaphore, at);
    until_t u = until(CLOCK_REALTIME, at, from);
    int result = next.sem_timedwait(semaphore, &u.real), error = errno;
    waited(result, result ? error : 0, &u);
    errno = error;
    return result;
}

SW_API int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                         const struct timespec *restrict at)
{
    const void *from = CALLER();
    READY(sem_clockwait);
    if (sw_unlikely(!next.sem_clockwait)) { /* glibc before 2.30 */
        errno = EINVAL;
        return -1;
    }
    if (sw_likely(!sw_clocks_sleep(from)) || !good(at))
        return next.sem_clockwait(semaphore, clock, at);
    until_t u = until(clock, at, from);
    int result = next.sem_clockwait(semaphore, clock, &u.real), error = errno;
    waited(result, result ? error : 0, &u);
    errno = error;
    return result;
}
