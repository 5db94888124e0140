/*
 * watch.h - has another process ended?
 *
 * A process is its number and its start time, so that a later process of the
 * same number does not count as it. A watch needs no descriptor. So a program
 * that closes all it finds breaks nothing, and a program's forked children keep
 * nothing alive.
 */
#ifndef SW_VTIME_FEED_WATCH_H
#define SW_VTIME_FEED_WATCH_H

#include "node/base/base.h"

typedef struct {
    int64_t pid;    /* 0: none */
    uint64_t start; /* 0: unknown */
} sw_watch_t;

void sw_watch_process(sw_watch_t *watch, pid_t pid);
/* False also where the system does not tell. */
bool sw_watch_gone(const sw_watch_t *watch);
/* Does a thread of it sleep in the system, neither running nor waiting for a
 * processor, or is there none such any more? False also where the system does
 * not tell. */
bool sw_watch_sleeps(const sw_watch_t *watch, int64_t thread);

#endif
