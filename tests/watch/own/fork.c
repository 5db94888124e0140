/*
 * fork.c - a forked child finds each lock open, also those that its parent's
 * threads held, and changes nothing of what the parent shows.
 */
#include "watch/own.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"

enum { THREADS = 4, FORKS = 200 };

static _Atomic bool over;

static void *change(void *unused)
{
    (void)unused;
    for (unsigned i = 0; !over; i++) {
        unsigned which = i % SW_WATCH_LOCKS;
        sw_watch_lock(which);
        sw_watch->pairs[which].messages++;
        sw_watch_unlock(which);
    }
    return NULL;
}

static void fork_one(void)
{
    int status;
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        alarm(30);
        for (unsigned i = 0; i < SW_WATCH_LOCKS; i++) {
            sw_watch_lock(i);
            MUST(!sw_watch->pairs[i].messages && !sw_watch->pid);
            sw_watch_unlock(i);
        }
        strcpy(sw_watch->job, "the child's");
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
    MUST(sw_watch->pid == getpid() && !*sw_watch->job);
}

int main(void)
{
    pthread_t threads[THREADS];
    MUST(sw_watch_open());
    for (unsigned i = 0; i < SW_WATCH_LOCKS; i++)
        sw_watch_lock(i);
    fork_one(); /* as a signal handler does */
    for (unsigned i = 0; i < SW_WATCH_LOCKS; i++)
        sw_watch_unlock(i);
    for (int i = 0; i < THREADS; i++)
        MUST(!pthread_create(&threads[i], NULL, change, NULL));
    for (int i = 0; i < FORKS; i++)
        fork_one();
    over = true;
    for (int i = 0; i < THREADS; i++)
        MUST(!pthread_join(threads[i], NULL));
    return 0;
}
