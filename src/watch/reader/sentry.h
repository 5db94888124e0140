/*
 * sentry.h - a process that watches one job's ranks on its node, and tells of a
 * hang (straightway run --hang-after).
 *
 * It looks at the calls that the ranks have finished, in their watch files. The
 * report is that of `straightway where`, which it runs. It tells once of each
 * hang: again only after a call has finished.
 *
 * A rank that gets SIGTERM says so in its watch file, and waits for `told`. The
 * sentry reports then, too, where the job has not moved for a second.
 *
 * It ends with the job's last rank on the node, and a report that is under way
 * ends with it. For a launcher may wait for the end of stderr, which it holds.
 */
#ifndef SW_WATCH_READER_SENTRY_H
#define SW_WATCH_READER_SENTRY_H

#include "node/base/base.h"

typedef struct {
    pid_t pid;           /* a rank */
    int seconds;         /* without a finished call: a hang */
    bool ends_job;       /* then */
    const char *command; /* bin/straightway */
} sw_sentry_t;

/* This process is the sentry, until the job has ended. */
void sw_sentry_run(const sw_sentry_t *s);

#endif
