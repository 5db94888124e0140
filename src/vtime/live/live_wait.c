/*
 * live_wait.c - a running program, while the engine has to wait for it: ranks
 * that define communicators, ring, end, die, or never come.
 */
#include "live_inside.h"

#include "node/os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAP_NS 20000000u   /* the engine takes then what had no ring */
#define LOOK_NS 100000000u /* between two looks for dead ranks, */
#define LOOK_AT 16u        /* so many ranks at a time */
#define CPUS 8192u
/* After so long a silence the engine no longer waits for a rank or thread: */
#define SLEEPS_NS 3000000u    /* one of several threads that sleeps, */
#define LOOKS_NS 100000000u   /* or runs, perhaps to look for another; */
#define HELD_NS 50000000u     /* a rank that says its host may keep it, */
#define ALONE_NS 1000000000u  /* one thread only, asleep or in its host, */
#define RUNS_NS 600000000000u /* or computing */
/* one that may look into a window: less each time, down from LIVE's patience */
#define LOOKS_LEAST_NS ((uint64_t)20000000)
#define SUSPECT_NS 10000000000u /* silence before a deadlock is suspected */
#define GRACE_NS 3000000000u    /* for ranks that come last */

static void define(sw_live_t *live, sw_engine_t *engine)
{
    for (uint32_t i = 0; i < live->defining_count; i++) {
        uint32_t rank = live->defining[i], number;
        sw_live_rank_t *r = &live->of[rank];
        const uint32_t *members = (const uint32_t *)(void *)r->bytes;
        uint32_t n = r->told.bytes / (uint32_t)sizeof *members;
        r->defined = false;
        switch (sw_defined_define(live->contexts, rank, r->told.number,
                                  r->told.id, n, members, &number)) {
        case SW_DEFINED_NEW:
            if (!sw_engine_context(engine, number, n, members))
                sw_live_no_memory(live);
            if (live->writer &&
                !sw_op_write_context(live->writer, number, n, members))
                sw_live_fail(live, "the operations cannot be written down", 0);
            break;
        case SW_DEFINED_KNOWN: break;
        case SW_DEFINED_DISAGREE:
            sw_live_fail(live,
                         "rank %u disagrees with others about who is "
                         "in a communicator",
                         rank);
            break;
        case SW_DEFINED_WRONG:
            sw_live_fail(live,
                         "rank %u has a communicator of members that "
                         "cannot be",
                         rank);
            break;
        case SW_DEFINED_MEMORY: sw_live_no_memory(live); break;
        }
        free(r->bytes);
        r->bytes = NULL;
    }
    live->defining_count = 0;
}

static bool absent(const sw_live_t *live, uint32_t rank)
{
    return live->of[rank].end == SW_LIVE_RUNS &&
           sw_taker_state(&live->taker, rank) == SW_FEED_NOBODY;
}

/* The engine gives up the ranks that have not come when all others have ended.
 * It also needs one more sign: the maker of the feeds has gone, or the engine
 * has seen others come and go. */
static void look_for_absent(sw_live_t *live, uint64_t now)
{
    uint32_t missing = 0;
    for (uint32_t rank = 0; rank < live->ranks; rank++) {
        if (absent(live, rank)) {
            missing++;
        } else if (!sw_live_has_ended(live, rank)) {
            live->empty_since = 0;
            return;
        }
    }
    bool orphan = sw_watch_gone(&live->taker.feeds->head->maker);
    if (!missing || (missing == live->ranks && !orphan)) {
        live->empty_since = 0;
        return;
    }
    if (!live->empty_since)
        live->empty_since = now;
    if (!orphan && now - live->empty_since < GRACE_NS)
        return;
    for (uint32_t rank = 0; rank < live->ranks; rank++)
        if (absent(live, rank)) {
            live->of[rank].end = SW_LIVE_ABSENT;
            live->news = true;
        }
}

/* The engine serves all ranks, so it may run wherever one of them may. The rank
 * that started it may be bound to a core, and the engine inherits that. */
static void place(sw_live_t *live)
{
    uint64_t all[CPUS / 64] = {0};
    for (uint32_t rank = 0; rank < live->ranks; rank++) {
        uint64_t mask[CPUS / 64] = {0};
        if (absent(live, rank))
            return;
        pid_t pid = (pid_t)sw_feed_shared(live->taker.feeds, rank)->process.pid;
        if (syscall(SYS_sched_getaffinity, pid, sizeof mask, mask) > 0)
            for (size_t i = 0; i < CPUS / 64; i++)
                all[i] |= mask[i];
    }
    syscall(SYS_sched_setaffinity, 0, sizeof all, all);
    live->placed = true;
}

static void look_for_dead(sw_live_t *live)
{
    uint64_t now = sw_os_now();
    if (now - live->looked < LOOK_NS)
        return;
    live->looked = now;
    if (!live->placed)
        place(live);
    for (uint32_t k = 0; k < sw_min(LOOK_AT, live->ranks); k++) {
        uint32_t rank = live->look_next++ % live->ranks;
        live->look_next %= live->ranks;
        if (!sw_live_has_ended(live, rank) && !absent(live, rank) &&
            sw_watch_gone(&sw_feed_shared(live->taker.feeds, rank)->process) &&
            !sw_live_has_ended(live, rank)) {
            live->of[rank].end = SW_LIVE_DIED;
            live->news = true;
        }
    }
    look_for_absent(live, now);
}

static bool anything(sw_live_t *live)
{
    if (live->news)
        return true;
    for (uint32_t rank = 0; rank < live->ranks; rank++)
        if (sw_taker_waiting(&live->taker, rank))
            return true;
    return false;
}

/* A rank waits for an answer, and no rank puts anything. A thread that the
 * engine awaits may itself wait for the ranks that ask. It may join a thread of
 * its rank, or be in a call that virtual time knows nothing of. Or it looks for
 * what they will write into a window's memory. */
typedef struct {
    sw_live_t *live;
    uint64_t quiet; /* ns */
    bool looked;    /* a thread did, perhaps */
} quiet_t;

static bool asleep(void *of, uint32_t rank, uint32_t thread, bool looks)
{
    quiet_t *quiet = of;
    sw_live_t *live = quiet->live;
    const sw_feed_shared_t *feed = sw_feed_shared(live->taker.feeds, rank);
    int32_t tid = thread < SW_FEED_THREADS ? live->of[rank].tid[thread] : 0;
    uint64_t sleeps = thread < SW_FEED_THREADS
                          ? atomic_load(&feed->of_thread[thread].sleeps)
                          : 0;
    if (quiet->quiet < sleeps)
        return false;
    uint64_t silent = quiet->quiet - sleeps;
    if (silent >= (tid ? LOOKS_NS : RUNS_NS))
        return true;
    if (looks && silent >= live->patience)
        return quiet->looked = true;
    if (silent < (tid ? SLEEPS_NS : live->of[rank].held ? HELD_NS : ALONE_NS))
        return false;
    return (!tid && atomic_load(&feed->inside)) ||
           sw_watch_sleeps(&feed->process, tid ? tid : feed->process.pid);
}

/* No rank seems to go on, but only the hosts know. The engine says so, once. */
static void say_suspicion(sw_live_t *live, const sw_engine_t *engine)
{
    char text[128];
    uint32_t said = 0;
    live->suspected = true;
    fprintf(stderr,
            "straightway: in virtual time nothing has happened for "
            "%u s; if that is a deadlock:",
            (unsigned)(SUSPECT_NS / 1000000000u));
    for (uint32_t rank = 0; rank < live->ranks && said < 8; rank++) {
        sw_engine_stuck(engine, rank, text, sizeof text);
        if (*text && ++said)
            fprintf(stderr, "\nstraightway:   rank %u: %s", rank, text);
    }
    fprintf(stderr, "\n");
}

/* Does a rank wait for an answer? The engine may not have come to its question,
 * because what was put before it depends on others. */
static bool somebody_asks(const sw_live_t *live)
{
    if (live->asking)
        return true;
    for (uint32_t rank = 0; rank < live->ranks; rank++) {
        const sw_live_rank_t *r = &live->of[rank];
        const sw_feed_entry_t *e = sw_taker_last(&live->taker, rank);
        if (!e && r->first < r->count)
            e = &r->kept[r->count - 1];
        if (e && e->what == SW_ENTRY_OP && sw_op_asks(e->op.kind))
            return true;
    }
    return false;
}

/* True: the engine can do something now. */
static bool long_quiet(sw_live_t *live, sw_engine_t *engine, uint64_t quiet)
{
    quiet_t of = {live, quiet, false};
    if (quiet >= SUSPECT_NS && !live->suspected && sw_engine_suspects(engine))
        say_suspicion(live, engine);
    bool left = quiet >= SLEEPS_NS && somebody_asks(live) &&
                sw_engine_leave_behind(engine, asleep, &of);
    if (of.looked)
        live->patience = sw_max(live->patience / 2, LOOKS_LEAST_NS);
    return left;
}

bool sw_live_wait(sw_live_t *live, sw_engine_t *engine)
{
    bool defined = live->defining_count > 0;
    define(live, engine);
    if (*live->error)
        return false;
    look_for_dead(live);
    /* Once more before sleeping, with feeds armed for the operations that the
     * engine needs now. */
    bool soon = somebody_asks(live), sooner = soon && !live->soon;
    live->soon = soon;
    /* Entries that the engine does not want yet may lie there all the time. */
    if (live->taken != live->taken_before) {
        live->taken_before = live->taken;
        live->quiet_since = sw_os_now();
    }
    while (!defined && !sooner && !live->news &&
           !sw_taker_sleep(&live->taker, live->asking ? SLEEPS_NS : NAP_NS)) {
        look_for_dead(live);
        if (long_quiet(live, engine, sw_os_now() - live->quiet_since) ||
            anything(live))
            break;
    }
    live->news = false;
    sw_taker_news(&live->taker, sw_live_rung, live);
    return !*live->error;
}
