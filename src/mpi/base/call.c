/*
 * call.c - see call.h; and the counts behind --stats.
 */
#include "call.h"

#include "failure.h"
#include "guard.h"
#include "mpi/p2p/posted.h"
#include "mpi/p2p/serve.h"
#include "layout/known.h"
#include "node/arena/show.h"
#include "p2p/slot.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const coll_names[SW_COLL_COUNT] = {
#define X(id, name) #name,
    SW_COLLECTIVES(X)
#undef X
};

static const char *const reason_texts[SW_REASON_COUNT] = {
#define X(id, text) text,
    SW_REASONS(X)
#undef X
};

/* Counted only with --stats. ours[] includes calls later declined: those
 * subtract. */
static _Atomic int64_t ours[SW_COLL_COUNT];
static _Atomic int64_t theirs[SW_COLL_COUNT][SW_REASON_COUNT];

/* Which collectives STRAIGHTWAY_ONLY allows: a bit mask, made once. */
static uint32_t allowed(void)
{
    static _Atomic uint32_t mask;   /* bit 31: made */
    uint32_t m = atomic_load_explicit(&mask, memory_order_relaxed);
    if (sw_likely(m))
        return m;
    m = 1u << 31;
    const char *text = sw_settings.only;
    if (!*text)
        m |= (1u << SW_COLL_COUNT) - 1;
    while (*text) {
        size_t n = strcspn(text, ",");
        bool known = false;
        for (int i = 0; i < SW_COLL_COUNT; i++)
            if (strlen(coll_names[i]) == n &&
                !strncasecmp(coll_names[i], text, n)) {
                m |= 1u << i;
                known = true;
            }
        if (!known)
            sw_say("STRAIGHTWAY_ONLY: there is no collective '%.*s'", (int)n,
                   text);
        text += n + (text[n] == ',');
    }
    atomic_store(&mask, m);
    return m;
}

static void count(sw_collective_t id, sw_reason_t reason, int64_t by)
{
    if (sw_likely(!sw_settings.stats) || !sw_from_user())
        return;
    _Atomic int64_t *to = reason == SW_OURS ? &ours[id] : &theirs[id][reason];
    atomic_fetch_add_explicit(to, by, memory_order_relaxed);
}

sw_comm_t *sw_serve(sw_collective_t id, MPI_Comm comm)
{
    sw_reason_t reason = SW_REASON_OFF;
    if (sw_likely(sw_settings.collectives && sw_accelerating() &&
                  (allowed() >> id & 1))) {
        sw_comm_t *c = sw_comm_enter(comm);
        if (sw_unlikely(sw_failure_told && c && c->group &&
                        sw_failure_revoked(comm)))
            sw_comm_lose(c);
        reason = c ? c->reason : SW_REASON_ARGUMENTS;
        if (sw_likely(c && (c->group || !c->settled))) {
            count(id, SW_OURS, 1);
            return c;
        }
    }
    count(id, reason, 1);
    return NULL;
}

void sw_decline(sw_collective_t id, sw_reason_t reason)
{
    count(id, SW_OURS, -1);
    count(id, reason, 1);
}

static void see_nothing(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* MPICH 5 takes an error for settled that a handler of the program's has seen:
 * the call returns MPI_SUCCESS. Other hosts return the error. Found out by
 * making one, at the first need. */
static bool host_settles(void)
{
    static _Atomic int known;           /* 0: not yet, 1: no, 2: yes */
    int is = atomic_load(&known);
    if (is)
        return is == 2;
    MPI_Comm comm;
    MPI_Errhandler handler;
    if (!sw_comm_has_world() ||
        host.Comm_split(MPI_COMM_SELF, 0, 0, &comm) != MPI_SUCCESS)
        return false;
    host.Comm_create_errhandler(see_nothing, &handler);
    host.Comm_set_errhandler(comm, handler);
    is = host.Send(&known, -1, MPI_BYTE, 0, 0, comm) == MPI_SUCCESS ? 2 : 1;
    host.Comm_free(&comm);
    host.Errhandler_free(&handler);
    atomic_store(&known, is);
    return is == 2;
}

static bool settled_by_handler(MPI_Comm comm)
{
    MPI_Errhandler handler;
    if (host.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return false;
    bool own = handler != MPI_ERRORS_RETURN && handler != MPI_ERRORS_ARE_FATAL;
    host.Errhandler_free(&handler);
    return own && host_settles();
}

int sw_raise(MPI_Comm comm, int error)
{
    if (sw_likely(error == MPI_SUCCESS))
        return error;
    bool settled = settled_by_handler(comm);
    host.Comm_call_errhandler(comm, error);
    return settled ? MPI_SUCCESS : error;
}

/* The handler of a communicator that is gone is called through another. */
int sw_raise_pending(const sw_comm_t *c, int error)
{
    if (sw_likely(error == MPI_SUCCESS))
        return error;
    if (c->handle != MPI_COMM_NULL)
        return sw_raise(c->handle, error);
    MPI_Comm mine = sw_private_comm(MPI_COMM_NULL);
    if (!c->gone || mine == MPI_COMM_NULL)
        return sw_raise(MPI_COMM_WORLD, error);
    host.Comm_set_errhandler(mine, c->handler);
    int result = sw_raise(mine, error);
    host.Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
    return result;
}

int sw_finish(sw_collective_t id, MPI_Comm comm, int status)
{
    if (sw_unlikely(atomic_load_explicit(&sw_windows_made,
                                         memory_order_relaxed)))
        sw_comm_progress();
    /* Of what is broken, sw_comm_give_up lets the host tell. */
    if (sw_likely(status == SW_OK) || status == SW_BROKEN)
        return MPI_SUCCESS;
    int code = status == SW_TRUNCATED ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
    static _Atomic bool said[2];
    if (status == SW_MISMATCH)
        sw_say_once(&said[0], "%s: the members of a communicator call "
                    "different collectives, or with different roots",
                    coll_names[id]);
    else if (status == SW_UNREACHABLE)
        sw_say_once(&said[1], "%s: a copy between ranks failed: %m",
                    coll_names[id]);
    return sw_raise(comm, code);
}

/* The report ----------------------------------------------------------- */

#define ROW (1 + SW_REASON_COUNT)

static void print_row(const char *name, const int64_t *row)
{
    int64_t calls = row[0], hosted = 0;
    for (int r = 0; r < SW_REASON_COUNT; r++)
        hosted += row[1 + r];
    calls += hosted;
    if (!calls)
        return;
    char why[512] = "";
    size_t at = 0;
    for (int r = 0; r < SW_REASON_COUNT; r++)
        if (row[1 + r] && at < sizeof why)
            at += (size_t)snprintf(why + at, sizeof why - at, "%s%s %lld",
                                   at ? ", " : " (", reason_texts[r],
                                   (long long)row[1 + r]);
    sw_say("%-20s calls %lld  ours %lld  host %lld%s%s", name,
           (long long)calls, (long long)row[0], (long long)hosted, why,
           at ? ")" : "");
}

/* Collective, as sw_stats_print; how many messages were ours, on rank 0. */
static int64_t print_messages(int rank)
{
    sw_slot_stats_t s;
    uint64_t known, brought;
    sw_slot_stats(&s);
    sw_layout_counts(&known, &brought);
    int64_t mine[7] = {(int64_t)s.offered, (int64_t)s.bytes,
                       (int64_t)s.moved_aside, sw_serve_count(),
                       (int64_t)known, (int64_t)brought, sw_posted_looks()},
            all[7] = {0};
    host.Reduce(mine, all, 7, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all[0])
        sw_say("point to point: %lld messages moved, %lld KiB; %lld of them "
               "copied aside for a late receiver, %lld fetched by the agent",
               (long long)all[0], (long long)(all[1] / 1024),
               (long long)all[2], (long long)all[3]);
    if (rank == 0 && all[6])
        sw_say("posted receives: looked at %lld times", (long long)all[6]);
    if (rank == 0 && all[4] + all[5])
        sw_say("layouts of senders: known %lld times, brought %lld times",
               (long long)all[4], (long long)all[5]);
    return all[0];
}

/* Of rank 0's memory. */
static void print_shown(size_t in_use)
{
    sw_show_stats_t shown;
    sw_show_stats(&shown);
    if (sw_show_mode == SW_SHOW_LAZY)
        sw_say("rank 0: shown to peers %zu KiB, private %zu KiB of blocks; "
               "showing took %.1f ms, %llu times, %llu KiB of it again%s",
               shown.shown / 1024,
               (in_use - sw_min(in_use, shown.shown)) / 1024,
               (double)shown.nanoseconds / 1e6,
               (unsigned long long)shown.times,
               (unsigned long long)shown.again / 1024,
               shown.refused ? ", and was refused at times" : "");
}

void sw_stats_print(void)
{
    int64_t mine[SW_COLL_COUNT][ROW], all[SW_COLL_COUNT][ROW];
    int rank = 0, size = 1;
    for (int i = 0; i < SW_COLL_COUNT; i++) {
        mine[i][0] = atomic_load(&ours[i]);
        for (int r = 0; r < SW_REASON_COUNT; r++)
            mine[i][1 + r] = atomic_load(&theirs[i][r]);
    }
    host.Comm_rank(MPI_COMM_WORLD, &rank);
    host.Comm_size(MPI_COMM_WORLD, &size);
    int rc = host.Reduce(mine, all, SW_COLL_COUNT * ROW, MPI_INT64_T, MPI_SUM,
                         0, MPI_COMM_WORLD);
    int64_t messages = print_messages(rank);
    if (rc != MPI_SUCCESS || rank != 0)
        return;
    sw_say("collective calls of %d ranks, summed:", size);
    int64_t total[ROW] = {0};
    for (int i = 0; i < SW_COLL_COUNT; i++) {
        print_row(coll_names[i], all[i]);
        for (int r = 0; r < ROW; r++)
            total[r] += all[i][r];
    }
    print_row("all", total);
    int64_t sum = 0;
    for (int r = 0; r < ROW; r++)
        sum += total[r];
    if (!sum && !messages)
        sw_say("this program made no blocking collective call and sent no "
               "large message: there was nothing to accelerate");
    sw_arena_stats_t arena;
    sw_arena_stats(&arena);
    size_t blocks, peak;
    sw_segment_usage(&blocks, &peak);
    print_shown(arena.in_use);
    sw_say("rank 0: arena %zu KiB at most, communicator blocks %zu KiB at "
           "most", arena.in_use_peak / 1024, peak / 1024);
}
