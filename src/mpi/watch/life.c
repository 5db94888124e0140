/*
 * life.c - what a process shows from its start to its end.
 */
#include "sentry.h"
#include "watched.h"

#include "mpi/base/guard.h"
#include "node/base/settings.h"
#include "node/launcher.h"
#include "node/os/os.h"
#include "profile/base/job.h"
#include "profile/stack/pycode.h"
#include "profile/stack/python.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

sw_host_t below;

/* What the host does not know. */
static void tell_process(void)
{
    sw_watch_t *w = sw_watch;
    sw_job_look();
    snprintf(w->program, sizeof w->program, "%s", sw_job.program);
    snprintf(w->node, sizeof w->node, "%.63s", sw_job.node);
    snprintf(w->flavour, sizeof w->flavour, "%s", SW_FLAVOUR);
    sw_watch_now(&w->started);
    __atomic_store_n(&w->magic, SW_WATCH_MAGIC, __ATOMIC_RELEASE);
}

bool sw_watched_open(void)
{
    if (sw_watch)
        return true;
    if (sw_watch_open()) {
        sw_comm_part_add(&sw_watched_comm_part);
        tell_process();
        return true;
    }
    if (sw_launcher_first_rank())
        sw_say("straightway where will not see this job: %s", strerror(errno));
    return false;
}

/* Is there a Python? Then readers learn where its frames are. */
static uint64_t python_thread(void)
{
    static _Atomic bool told;
    const sw_python_layout_t *l = sw_python_layout();
    _Static_assert(sizeof *l <= sizeof sw_watch->python, "room");
    if (!l)
        return 0;
    if (!atomic_exchange(&told, true))
        memcpy(sw_watch->python, l, sizeof *l);
    return sw_python_thread();
}

sw_watch_thread_t *sw_watched_thread(void)
{
    sw_watch_thread_t *t = sw_watch_thread_new();
    t->python = python_thread();
    return t;
}

/* Types of C that most programs send. The host is not asked for the sizes: it
 * ends a program that asks for a type which it lacks. */
static const struct {
    MPI_Datatype type;
    size_t size;
} named[] = {{MPI_BYTE, 1},
             {MPI_CHAR, 1},
             {MPI_INT, sizeof(int)},
             {MPI_LONG, sizeof(long)},
             {MPI_UNSIGNED_LONG, sizeof(long)},
             {MPI_INT64_T, 8},
             {MPI_FLOAT, sizeof(float)},
             {MPI_DOUBLE, sizeof(double)}};

uint64_t sw_watched_bytes_slow(int64_t count, MPI_Datatype type)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i].type == type)
            return count > 0 ? (uint64_t)count * named[i].size : 0;
    return SW_WATCH_UNKNOWN;
}

void sw_watched_world(void)
{
    SW_INSIDE_LOCAL;
    sw_watch_t *w = sw_watch;
    if (!w || w->rank >= 0)
        return;
    const char *batch = sw_launcher_job();

    sw_watched_comm_meet(MPI_COMM_WORLD, 0);
    sw_watched_comm_meet(MPI_COMM_SELF, 1);
    sw_watched_comm_named(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    sw_watched_comm_named(MPI_COMM_SELF, "MPI_COMM_SELF");
    w->ranks = sw_roster.ranks;
    w->node_ranks = sw_roster.places;
    w->thread_level = sw_roster.level;
    w->accelerated = sw_settings.enable;
    w->whole = true;
    snprintf(w->job, sizeof w->job, "%.40s%s%08x", batch ? batch : "",
             batch ? "-" : "", (uint32_t)(sw_roster.job ^ sw_roster.job >> 32));
    __atomic_store_n(&w->rank, sw_roster.rank, __ATOMIC_RELEASE);
    sw_sentry_start();
}

void sw_watched_finalize(sw_watched_t *w)
{
    sw_watched_on(w, sw_watched_comm(MPI_COMM_WORLD));
}

void sw_watched_finalized(void)
{
    sw_watch->finalized = true;
}
