/*
 * own.c - see own.h.
 */
#include "own.h"

#include "node/os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sw_watch_t *sw_watch;
sw_watch_flow_t sw_watch_flow;
_Thread_local sw_watch_thread_t *sw_watch_mine;

/* Each has a line of the cache. */
static struct {
    _Alignas(SW_LINE) pthread_mutex_t mutex;
} locks[SW_WATCH_LOCKS] = {
    [0 ... SW_WATCH_LOCKS - 1] = {PTHREAD_MUTEX_INITIALIZER}};
static pthread_key_t key; /* of threads with an entry: its end frees it */
static sw_watch_thread_t unseen; /* of threads without memory */

sw_watch_clock_t sw_watch_clock = clock_gettime;

static void find_clock(void)
{
#if defined(__aarch64__)
    static const char name[] = "__kernel_clock_gettime";
#else
    static const char name[] = "__vdso_clock_gettime";
#endif
    void *kernel = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *found = kernel ? dlsym(kernel, name) : NULL;
    if (found)
        memcpy(&sw_watch_clock, &found, sizeof found);
}

/* Fresh memory takes the place of what the parent shows. A child that gets none
 * goes on in the parent's, where its own number is not.
 *
 * No lock is taken before a fork: a signal handler may fork while its thread
 * holds one. The tables are new, so that no lock guards a half-made change. */
static void in_child(void)
{
    size_t size = sw_round_up(sizeof *sw_watch, SW_PAGE);
    static const pthread_mutex_t open = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < SW_WATCH_LOCKS; i++)
        locks[i].mutex = open;
    (void)sw_os_map_private(sw_watch, size);
}

static void leave(void *entry)
{
    sw_watch_thread_t *t = entry;
    sw_watch_mine = NULL;
    t->inside = false;
    __atomic_store_n(&t->tid, 0, __ATOMIC_RELEASE);
}

bool sw_watch_open(void)
{
    size_t size = sw_round_up(sizeof *sw_watch, SW_PAGE);
    int fd = sw_os_memfd(SW_WATCH_NAME);
    if (fd < 0)
        return false;
    sw_watch_t *w = sw_os_resize(fd, size) == 0
                        ? sw_os_map_shared(NULL, size, fd, 0)
                        : NULL;
    if (!w || pthread_key_create(&key, leave) != 0) {
        int error = errno;
        if (w)
            sw_os_unmap(w, size);
        close(fd);
        errno = error;
        return false;
    }
    w->version = SW_WATCH_VERSION;
    w->size = sizeof *w;
    w->pid = (int32_t)sw_os_pid();
    w->rank = -1;
    sw_watch = w;
    find_clock();
    pthread_atfork(NULL, NULL, in_child);
    return true;
}

sw_watch_thread_t *sw_watch_thread_new(void)
{
    sw_watch_thread_t *t = NULL;
    int32_t tid = (int32_t)sw_os_thread_id(), none = 0;
    for (int i = 0; i < SW_WATCH_THREADS && !t; i++, none = 0)
        if (__atomic_compare_exchange_n(&sw_watch->threads[i].tid, &none, tid,
                                        false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            t = &sw_watch->threads[i];
    if (t) {
        t->call = (sw_watch_call_t){.procedure = SW_WATCH_NO_CALL};
        t->finished = 0;
        t->python = 0;
        pthread_setspecific(key, t);
    } else {
        sw_watch_lose(threads);
        t = calloc(1, sizeof *t);
        t = t ? t : &unseen;
    }
    sw_watch_mine = t;
    return t;
}

void sw_watch_lock(unsigned which)
{
    pthread_mutex_lock(&locks[which].mutex);
}

void sw_watch_unlock(unsigned which)
{
    pthread_mutex_unlock(&locks[which].mutex);
}
