/*
 * stats.c - see stats.h.
 */
#include "stats.h"

#include "device/cuda.h"
#include "layout/known.h"
#include "mpi/base/roster.h"
#include "mpi/coll/counted.h"
#include "mpi/p2p/give.h"
#include "mpi/p2p/near.h"
#include "mpi/p2p/near_device.h"
#include "mpi/p2p/partitioned.h"
#include "mpi/rma/window.h"
#include "mpi/span/rooted.h"
#include "mpi/topo/reorder.h"
#include "node/arena/show.h"
#include "p2p/slot.h"

#include <stdio.h>

static const char *const reason_texts[SW_REASON_COUNT] = {
#define X(id, text) text,
    SW_REASONS(X)
#undef X
};

/* Prints one row, and returns its calls. */
static int64_t print_row(const char *name, const int64_t *row)
{
    const int64_t *host_row = row + SW_COUNTED_HOST;
    int64_t calls, hosted = 0;
    for (int r = 0; r < SW_REASON_COUNT; r++)
        hosted += host_row[r];
    calls = row[SW_COUNTED_OURS] + hosted;
    if (!calls)
        return 0;
    char why[512] = "", over[64] = "";
    size_t at = 0;
    for (int r = 0; r < SW_REASON_COUNT; r++)
        if (host_row[r] && at < sizeof why)
            at += (size_t)snprintf(why + at, sizeof why - at, "%s%s %lld",
                                   at ? ", " : " (", reason_texts[r],
                                   (long long)host_row[r]);
    if (row[SW_COUNTED_OVER_NODES])
        snprintf(over, sizeof over, " (over nodes %lld)",
                 (long long)row[SW_COUNTED_OVER_NODES]);
    sw_say("%-20s calls %lld  ours %lld%s  host %lld%s%s", name,
           (long long)calls, (long long)row[SW_COUNTED_OURS], over,
           (long long)hosted, why, at ? ")" : "");
    return calls;
}

/* Collective, as sw_stats_print: how MPI_COMM_WORLD lies over nodes, and how
 * many communicators have spans (mpi/base/span.h). */
static void print_nodes(int rank)
{
    enum { LEADERS, HERE, FEWEST, NOW, MOST, COUNT };
    int mine[COUNT], most[COUNT] = {0}, nodes = 1;
    int64_t bytes[2], all[2] = {0};
    sw_rooted_counts(&bytes[0], &bytes[1]);
    mine[LEADERS] = sw_roster.node == sw_roster.rank;
    mine[HERE] = sw_roster_near_ranks();
    mine[FEWEST] = -mine[HERE];
    sw_span_counts(&mine[NOW], &mine[MOST]);
    host.Reduce(mine, most, COUNT, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    host.Reduce(mine, &nodes, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    host.Reduce(bytes, all, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    int fewest = -most[FEWEST];
    if (rank || nodes < 2)
        return;
    sw_say("MPI_COMM_WORLD: %d nodes of %d to %d ranks, %d lane%s between "
           "them",
           nodes, fewest, most[HERE], fewest, fewest == 1 ? "" : "s");
    sw_say("communicators over nodes: a rank holds %d at most, and has held "
           "%d (STRAIGHTWAY_SPAN_MAX %lld)",
           most[NOW], most[MOST], (long long)sw_settings.span_max);
    if (all[0])
        sw_say("gathers and scatters over nodes: gates moved %lld KiB, %lld "
               "KiB of them through copies",
               (long long)(all[0] / 1024), (long long)(all[1] / 1024));
}

/* Of messages, as this rank counts them. */
typedef struct {
    int64_t moved, bytes;
    int64_t aside;           /* of these */
    int64_t known, brought;  /* layouts of senders */
    int64_t carried, staged; /* from or to a device's memory */
} messages_t;

/* Collective, as sw_stats_print: what only the matcher knows. Returns how many
 * messages it has matched. */
static int64_t print_matches(int rank)
{
    const sw_matcher_stats_t *s = &sw_matcher_stats;
    struct {
        int64_t messages, early, early_bytes;
    } sum = {0},
      mine = {(int64_t)s->messages, (int64_t)s->early, (int64_t)s->early_bytes};
    struct {
        int64_t waiting, posted;
    } most = {0}, here = {(int64_t)s->waiting_most, (int64_t)s->posted_most};
    host.Reduce(&mine, &sum, sizeof sum / sizeof(int64_t), MPI_INT64_T, MPI_SUM,
                0, MPI_COMM_WORLD);
    host.Reduce(&here, &most, sizeof most / sizeof(int64_t), MPI_INT64_T,
                MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank || !sum.messages)
        return sum.messages;
    sw_say("messages matched inside the node: %lld; %lld came before their "
           "receives, and took %lld KiB",
           (long long)sum.messages, (long long)sum.early,
           (long long)(sum.early_bytes / 1024));
    sw_say("a rank had at most %lld messages waiting, and %lld receives "
           "posted",
           (long long)most.waiting, (long long)most.posted);
    return sum.messages;
}

/* Collective, as sw_stats_print: what --gpu has asked of CUDA's driver. */
static void print_driver(void)
{
    sw_cuda_counts_t *c = &sw_cuda_counts;
    enum { LAUNCHES, COPIES, ALLOCATIONS, OPENINGS, COUNT };
    int64_t mine[COUNT] = {atomic_load(&c->launches), atomic_load(&c->copies),
                           atomic_load(&c->allocations),
                           atomic_load(&c->openings)};
    int64_t all[COUNT] = {0};
    host.Reduce(mine, all, COUNT, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (all[LAUNCHES] + all[COPIES])
        sw_say("memory of a GPU: %lld kernels launched, %lld copies by its "
               "engine, %lld allocations, %lld openings of other ranks' "
               "memory",
               (long long)all[LAUNCHES], (long long)all[COPIES],
               (long long)all[ALLOCATIONS], (long long)all[OPENINGS]);
}

/* Collective, as sw_stats_print; how many messages were ours. The sums are 0 on
 * all ranks but rank 0. */
static int64_t print_messages(void)
{
    const sw_give_counts_t *given = &sw_give_counts[SW_GIVE_HANDED];
    sw_slot_stats_t s;
    uint64_t known, brought;
    messages_t all = {0};
    sw_slot_stats(&s);
    sw_layout_counts(&known, &brought);
    /* Blocks that are given away have slots, and do not move. */
    messages_t mine = {.moved = (int64_t)s.offered - given->calls,
                       .bytes = (int64_t)s.bytes - given->bytes,
                       .aside = (int64_t)s.moved_aside,
                       .known = (int64_t)known,
                       .brought = (int64_t)brought,
                       .carried = (int64_t)s.carried,
                       .staged = sw_near_device_count()};
    host.Reduce(&mine, &all, sizeof all / sizeof(int64_t), MPI_INT64_T, MPI_SUM,
                0, MPI_COMM_WORLD);
    if (all.moved)
        sw_say("point to point: %lld messages moved, %lld KiB; %lld of them "
               "copied aside for a late receiver",
               (long long)all.moved, (long long)(all.bytes / 1024),
               (long long)all.aside);
    if (all.carried + all.staged)
        sw_say("messages with buffers in a GPU: %lld moved straight from "
               "buffer to buffer, %lld copies between a GPU and ordinary "
               "memory for others",
               (long long)all.carried, (long long)all.staged);
    print_driver();
    if (all.known + all.brought)
        sw_say("layouts of senders: known %lld times, brought %lld times",
               (long long)all.known, (long long)all.brought);
    return all.moved;
}

/* Collective, as sw_stats_print. Returns how many starts were ours. */
static int64_t print_partitioned(void)
{
    sw_partitioned_counts_t all = {0};
    host.Reduce(&sw_partitioned_counts, &all, sizeof all / sizeof(int64_t),
                MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (all.starts)
        sw_say("partitioned messages: started %lld times, at both ends; "
               "sent %lld partitions, %lld KiB",
               (long long)all.starts, (long long)all.partitions,
               (long long)(all.bytes / 1024));
    return all.starts;
}

/* Collective, as sw_stats_print. */
static void print_reordered(int rank)
{
    int64_t mine[SW_REORDER_COUNTS], all[SW_REORDER_COUNTS] = {0};
    sw_reorder_counts(mine);
    host.Reduce(mine, all, SW_REORDER_COUNTS, MPI_INT64_T, MPI_SUM, 0,
                MPI_COMM_WORLD);
    if (rank == 0 && all[SW_REORDER_ASKED])
        sw_say("topologies: %lld looked at, %lld reordered; messages between "
               "nodes %lld before, %lld after",
               (long long)all[SW_REORDER_ASKED],
               (long long)all[SW_REORDER_DONE],
               (long long)all[SW_REORDER_BEFORE],
               (long long)all[SW_REORDER_AFTER]);
    else if (rank == 0 && sw_settings.reorder)
        sw_say("topologies: --reorder had nothing to do, because the program "
               "made no grid or graph that allows new ranks (reorder = true) "
               "and has no spawned processes");
}

/* Collective, as sw_stats_print. Returns how many calls moved data. */
static int64_t print_windows(int rank)
{
    static const char *const why[] =
        {
#define X(id, text) text,
            SW_WIN_REASONS(X)},
                             *const deeds[] = {SW_WIN_DEEDS(X)
#undef X
                             };
    sw_win_counts_t all = {0};
    enum { COUNT = sizeof all / sizeof(int64_t) };
    _Static_assert(sizeof all.calls[0] == sizeof(int64_t), "summed as such");
    int64_t windows = 0, moves = 0;
    host.Reduce(&sw_win_counts, &all, COUNT, MPI_INT64_T, MPI_SUM, 0,
                MPI_COMM_WORLD);
    for (int i = 0; i <= SW_WIN_SERVED; i++)
        windows += all.windows[i];
    for (int i = 0; i < SW_WIN_MOVES; i++)
        moves += all.calls[i];
    if (rank || !windows)
        return moves;
    sw_say("windows: %lld of %lld ours; %lld accesses to these",
           (long long)all.windows[SW_WIN_SERVED], (long long)windows,
           (long long)moves);
    for (int i = 0; i < SW_WIN_SERVED; i++)
        if (all.windows[i])
            sw_say("windows of the MPI, %s: %lld", why[i],
                   (long long)all.windows[i]);
    char line[512] = "";
    for (int i = 0, at = 0; i < SW_WIN_DEED_COUNT; i++) {
        if (!all.calls[i])
            continue;
        at += snprintf(line + at, sizeof line - (size_t)at, "%s%s %lld",
                       at ? ", " : "", deeds[i], (long long)all.calls[i]);
        if (i < SW_WIN_MOVES)
            at += snprintf(line + at, sizeof line - (size_t)at, " (%lld KiB)",
                           (long long)(all.bytes[i] / 1024));
    }
    if (*line)
        sw_say("one-sided calls that were ours: %s", line);
    return moves;
}

/* Collective, as sw_stats_print. Returns how many blocks were given. */
static int64_t print_gives(int rank)
{
    static const char *const why[] = {
#define X(id, text) text,
        SW_GIVE_REASONS(X)
#undef X
    };
    sw_give_counts_t all[SW_GIVE_COUNTS] = {{0}};
    sw_give_counts_t by_value = {0};
    host.Reduce(sw_give_counts, all, 2 * SW_GIVE_COUNTS, MPI_INT64_T, MPI_SUM,
                0, MPI_COMM_WORLD);
    for (int i = 0; i < SW_GIVE_HANDED; i++) {
        by_value.calls += all[i].calls;
        by_value.bytes += all[i].bytes;
    }
    if (rank || !(all[SW_GIVE_HANDED].calls + all[SW_GIVE_TAKEN].calls +
                  by_value.calls))
        return all[SW_GIVE_HANDED].calls;
    sw_say("blocks: %lld given, %lld taken, %lld went by value; %lld KiB "
           "given, %lld KiB by value",
           (long long)all[SW_GIVE_HANDED].calls,
           (long long)all[SW_GIVE_TAKEN].calls, (long long)by_value.calls,
           (long long)(all[SW_GIVE_HANDED].bytes / 1024),
           (long long)(by_value.bytes / 1024));
    for (int i = 0; i < SW_GIVE_HANDED; i++)
        if (all[i].calls)
            sw_say("blocks by value, %s: %lld", why[i],
                   (long long)all[i].calls);
    return all[SW_GIVE_HANDED].calls;
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
               (double)shown.nanoseconds / 1e6, (unsigned long long)shown.times,
               (unsigned long long)shown.again / 1024,
               shown.refused ? ", and was refused at times" : "");
}

void sw_stats_print(void)
{
    static int64_t mine[SW_COUNTED_ROWS][SW_COUNTED_ROW];
    static int64_t all[SW_COUNTED_ROWS][SW_COUNTED_ROW];
    int rank = 0, size = 1;
    sw_counted(mine);
    host.Comm_rank(MPI_COMM_WORLD, &rank);
    host.Comm_size(MPI_COMM_WORLD, &size);
    /* By rows: for a large message the host copies from a peer's memory, which
     * the system may refuse by now. All ranks call for each. */
    bool whole = true;
    for (int i = 0; i < SW_COUNTED_ROWS; i++)
        whole &= host.Reduce(mine[i], all[i], SW_COUNTED_ROW, MPI_INT64_T,
                             MPI_SUM, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
    int64_t messages = print_matches(rank) + print_messages() +
                       print_partitioned() + print_windows(rank) +
                       print_gives(rank);
    print_nodes(rank);
    print_reordered(rank);
    if (!whole || rank != 0)
        return;
    sw_say("collective calls of %d ranks, summed:", size);
    int64_t total[SW_COUNTED_ROW] = {0}, calls = 0;
    for (int i = 0; i < SW_COUNTED_ROWS; i++) {
        char name[64];
        int row = sw_counted_reported(i);
        sw_counted_name(row, name, sizeof name);
        calls += print_row(name, all[row]);
        for (int r = 0; r < SW_COUNTED_ROW; r++)
            total[r] += all[row][r];
    }
    print_row("all", total);
    if (!calls && !messages)
        sw_say("this program made no collective call, sent no message inside a "
               "node, gave no block and moved nothing in a window: there was "
               "nothing to accelerate");
    sw_say("rank 0: slept %llu times in its waits",
           (unsigned long long)atomic_load(&sw_wait_sleeps));
    sw_arena_stats_t arena;
    sw_arena_stats(&arena);
    size_t blocks, peak;
    sw_segment_usage(&blocks, &peak);
    print_shown(arena.in_use);
    sw_say("rank 0: arena %zu KiB at most, communicator blocks %zu KiB at "
           "most",
           arena.in_use_peak / 1024, peak / 1024);
}
