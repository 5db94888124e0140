/*
 * watch.c - see watch.h.
 */
#include "watch.h"

#include "node/os/os.h"

void sw_watch_process(sw_watch_t *watch, pid_t pid)
{
    *watch = (sw_watch_t){.pid = pid};
    if (sw_os_process_start(pid, &watch->start) != 1)
        watch->start = 0;
}

bool sw_watch_gone(const sw_watch_t *watch)
{
    uint64_t start;
    if (!watch->pid || !watch->start)
        return false;
    int there = sw_os_process_start((pid_t)watch->pid, &start);
    return there == 0 || (there == 1 && start != watch->start);
}

bool sw_watch_sleeps(const sw_watch_t *watch, int64_t thread)
{
    return sw_os_thread_sleeps((pid_t)watch->pid, (pid_t)thread) == 1;
}
