/*
 * profile.c - the beginning and the end of a profile, in the recorded forms of
 * the procedures that they belong to.
 */
#include "traffic.h"

#include "mpi/base/roster.h"
#include "mpi/p2p/near.h"
#include "contract/front.h"
#include "node/os/os.h"
#include "node/peer.h"
#include "node/base/settings.h"
#include "profile/capture/ending.h"
#include "profile/capture/page.h"
#include "profile/capture/summary.h"
#include "profile/capture/where.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm gathering = MPI_COMM_NULL; /* MPI_COMM_WORLD, our own */

/* The beginning ----------------------------------------------------------- */

/* A board in this process's control segment, which its peers map. */
static uint64_t make_board(void)
{
    uint64_t at = 0;
    size_t size = sizeof(sw_block_t) + SW_LINE + sizeof(sw_board_t);
    if (sw_segment())
        at = sw_segment_alloc(size, size, 1);
    if (at) {
        at = sw_round_up(at + sizeof(sw_block_t), SW_LINE);
        sw_board = (sw_board_t *)(void *)(sw_segment()->base + at);
    }
    return at;
}

/* The board of the rank at a place, or NULL. */
static sw_board_t *see_board(int place)
{
    const sw_hello_t *said = &sw_roster.at[place].said;
    if (place == sw_roster.place)
        return sw_board;
    sw_peer_t *peer = said->board ? sw_peer_attach(&said->self.card) : NULL;
    return peer && sw_peer_control(peer)
               ? (sw_board_t *)(void *)(peer->control + said->board)
               : NULL;
}

static void see_boards(void)
{
    sw_boards = calloc((size_t)sw_roster.places, sizeof *sw_boards);
    if (!sw_boards) {
        sw_say("out of memory in MPI_Init");
        abort();
    }
    int unseen = 0;
    for (int i = 0; i < sw_roster.places; i++) {
        sw_board_t *board = see_board(i);
        sw_boards[i] = board;
        unseen += i != sw_roster.place && !board;
        if (i == 0 && board)
            sw_watchers = &board->watchers;
    }
    if (unseen && sw_job.rank == 0)
        sw_say("profile: waiting cannot be told from moving: the system lets "
               "no memory be shared (straightway doctor says more)");
}

static void matched(sw_job_matched_t *to)
{
    const sw_matcher_stats_t *s = &sw_matcher_stats;
    *to = (sw_job_matched_t){s->messages, s->early, s->early_bytes,
                             s->waiting_most, s->posted_most};
}

/* Nodes are numbered in the order of their lowest ranks. */
static void number_nodes(void)
{
    int before = 0, leads = sw_roster.node == sw_job.rank, split = 0;
    sw_job.node_ranks = sw_roster_near_ranks();
    split = sw_job.node_ranks < sw_job.ranks;
    if (sw_roster.comm == MPI_COMM_NULL || !split)
        return;
    host.Exscan(&leads, &before, 1, MPI_INT, MPI_SUM, gathering);
    int *leader = calloc((size_t)sw_roster.places, sizeof *leader);
    if (!leader) {
        sw_say("out of memory in MPI_Init");
        abort();
    }
    int mine = sw_job.rank ? before : 0;
    host.Allgather(&mine, 1, MPI_INT, leader, 1, MPI_INT, sw_roster.comm);
    sw_job.node_number = leader[sw_roster_place(sw_roster.node)];
    free(leader);
}

/* Rank 0 names the file; all must know it, should one of them die. */
static void agree(void)
{
    struct {
        uint64_t began;
        bool elsewhere;
        char id[sizeof sw_job.id], path[sizeof sw_job.path];
    } job;
    memset(&job, 0, sizeof job);
    if (sw_job.rank == 0) {
        const char *why = sw_job_name_capture();
        if (why) {
            char wanted[sizeof sw_job.path];
            strcpy(wanted, sw_job.path);
            bool good = sw_job_fall_back();
            sw_say("profile: %s: %s; the capture goes to %s instead%s", wanted,
                   why, sw_job.path,
                   good ? "" : ", where nothing can be written either");
        }
        job.began = sw_job.began;
        job.elsewhere = sw_job.elsewhere;
        memcpy(job.id, sw_job.id, sizeof job.id);
        memcpy(job.path, sw_job.path, sizeof job.path);
    }
    host.Bcast(&job, (int)sizeof job, MPI_BYTE, 0, gathering);
    sw_job.began = job.began;
    memcpy(sw_job.id, job.id, sizeof job.id);
    memcpy(sw_job.path, job.path, sizeof job.path);
    sw_job.elsewhere = job.elsewhere;
    if (sw_job.rank)
        sw_job_join();
}

static void describe(void)
{
    int length;
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED,
                                 MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    for (int i = 0; i < 4; i++)
        if (sw_roster.level == levels[i])
            sw_job.thread_level = i;
    sw_pending_shared = sw_threaded;
    if (host.Get_library_version)
        host.Get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    snprintf(sw_job.mpi, sizeof sw_job.mpi, "%.255s", text);
    snprintf(sw_job.library, sizeof sw_job.library, "%s", sw_front_host());
    snprintf(sw_job.flavour, sizeof sw_job.flavour, "%s", SW_FLAVOUR);
    sw_job.accelerated = sw_settings.enable;
    sw_job.procedures = sw_proc_names;
}

/* Of a call in the trace, as a rule. */
#define TRACED_BYTES 17

static void begin_trace(void)
{
    uint64_t limit = sw_tracer_open(sw_settings.trace_limit);
    if (!limit) {
        sw_say("rank %d: no trace can be written beside %s: %s", sw_job.rank,
               sw_job.path, strerror(errno));
        return;
    }
    double mib = 1.0 / (1 << 20);
    if (sw_job.rank == 0)
        sw_say("the trace takes at most %.0f MiB%s: %.1f MiB a rank, some "
               "%.1f million calls (STRAIGHTWAY_TRACE_LIMIT)",
               (double)limit * mib,
               limit < sw_settings.trace_limit
                   ? ", half of what the disk has free"
                   : "",
               (double)limit * mib / sw_job.ranks,
               (double)limit / sw_job.ranks / TRACED_BYTES * 1e-6);
}

/* Record many calls that do nothing, into a recorder of their own. Other
 * processes may be in the way at first: the best of some batches counts. */
static uint64_t measure_own_cost(void)
{
    enum { BATCHES = 10, CALLS = 250 };
    sw_recorder_t *real = sw_recorder, *scratch = sw_recorder_scratch();
    if (!scratch)
        return 0;
    if (sw_tracing)
        scratch->tracer = sw_tracer_make(0, true);
    sw_recorder = scratch;
    uint64_t best = UINT64_MAX, before = sw_clock_ticks();
    for (int i = 1; i <= BATCHES * CALLS; i++) {
        SW_EVENT(Bcast);
        if (!sw_event_begin(&e, &sw_from))
            break;
        sw_collective_before(&e, MPI_COMM_WORLD, SW_WAITS_ROOT, 0);
        sw_event_clock(&e);
        sw_event_stop(&e, MPI_SUCCESS);
        sw_event_comm_after(&e, MPI_COMM_WORLD);
        if (sw_likely(e.comm && !e.paused)) {
            sw_collective_root(&e, 0);
            sw_collective_moved(
                &e, sw_moves_bcast(e.comm, 0, SW_MOVES_DATA(8, MPI_BYTE)));
            sw_collective_look(&e, SW_WAITS_ROOT, 0);
        }
        sw_event_end(&e);
        if (i % CALLS == 0) {
            uint64_t now = sw_clock_ticks();
            best = sw_min(best, now - before);
            before = now;
        }
    }
    sw_recorder = real;
    return best == UINT64_MAX ? 0 : (sw_clock_ns(best) + CALLS / 2) / CALLS;
}

/* Before MPI_Init, whose handshake shows the board. */
static uint64_t begin(void)
{
    if (sw_settings.profile)
        sw_roster_board = make_board;
    sw_clock_open();
    return sw_clock_ticks();
}

/* After MPI_Init: agree on the file, show the boards, begin. */
static void start(uint64_t init_ticks)
{
    SW_INSIDE;
    if (!sw_settings.profile || atomic_load(&sw_recording))
        return;
    sw_clock_start();
    sw_job_look();
    sw_job.rank = sw_roster.rank;
    sw_job.ranks = sw_roster.ranks;
    sw_job.spawned = sw_roster.spawned;
    describe();
    if (host.Comm_dup(MPI_COMM_WORLD, &gathering) != MPI_SUCCESS)
        return;
    agree();
    number_nodes();
    sw_where_look(sw_roster.node == sw_job.rank);
    see_boards();
    sw_job_matched = matched;
    if (sw_settings.trace)
        begin_trace();
    sw_peers_ranks = (uint32_t)sw_job.ranks;
    if (!sw_site_depth((int)sw_settings.stack_depth) && sw_job.rank == 0)
        sw_say("STRAIGHTWAY_STACK_DEPTH=%lld: give 1 to %d; it is 1",
               (long long)sw_settings.stack_depth, SW_DEPTH_MAX);
    sw_site_skip_module(sw_job.library);
    sw_known_comm_meet(MPI_COMM_WORLD);
    sw_known_comm_meet(MPI_COMM_SELF);
    sw_recorder_make();
    sw_recording_set(SW_RECORDING_ON);
    sw_job.own_cost = measure_own_cost();
    host.Barrier(gathering);
    sw_ending_watch();
    sw_job.init_ticks = init_ticks;
    sw_job.cpu_before = sw_job_cpu();
    sw_job.start = sw_clock_ticks();
}

/* The end ----------------------------------------------------------------- */

/* Bytes in a message: so few that no host needs more than its own shared
 * memory for it. (MPICH fails where the system refuses process_vm_readv.) */
#define PIECE 4096u

/* What a rank leaves. */
typedef struct {
    sw_blob_t block, summary;
} part_t;

static void send_bytes(const sw_blob_t *from)
{
    for (uint64_t at = 0; at < from->size; at += PIECE)
        host.Send(from->at + at, (int)sw_min(PIECE, from->size - at), MPI_BYTE,
                  0, 0, gathering);
}

/* When rank 0 asks for it, so that it has not all of them at once. */
static void send_part(const part_t *mine)
{
    uint64_t sizes[2] = {mine->block.size, mine->summary.size};
    host.Recv(NULL, 0, MPI_BYTE, 0, 0, gathering, MPI_STATUS_IGNORE);
    host.Send(sizes, sizeof sizes, MPI_BYTE, 0, 0, gathering);
    send_bytes(&mine->block);
    send_bytes(&mine->summary);
}

/* The file with the blocks that have come. */
typedef struct {
    int fd, error; /* errno; 0: all is written */
    int ranks;     /* that have a block */
    int whole;     /* blocks that are written */
} file_t;

static void put(file_t *to, const void *bytes, size_t n)
{
    if (!to->error && sw_os_write_all(to->fd, bytes, n))
        to->error = errno;
}

/* A rank without a block is no reason for a file. */
static void put_rank(file_t *to, uint64_t size)
{
    if (!size || to->ranks++)
        return;
    to->fd = sw_os_open_append(sw_job.path);
    if (to->fd < 0 || sw_capture_begin(to->fd))
        to->error = errno;
}

static void put_summary(const void *bytes, size_t n)
{
    sw_summary_add(bytes, n / sizeof(sw_summary_row_t));
}

/* Even if the file cannot be written, what is sent must be received. */
static void receive_part(file_t *to, int from)
{
    static _Alignas(sw_summary_row_t) char piece[PIECE];
    _Static_assert(PIECE % sizeof(sw_summary_row_t) == 0, "whole rows");
    uint64_t sizes[2] = {0, 0};
    host.Send(NULL, 0, MPI_BYTE, from, 0, gathering);
    host.Recv(sizes, sizeof sizes, MPI_BYTE, from, 0, gathering,
              MPI_STATUS_IGNORE);
    put_rank(to, sizes[0]);
    for (int what = 0; what < 2; what++)
        for (uint64_t at = 0; at < sizes[what]; at += PIECE) {
            size_t n = sw_min(PIECE, sizes[what] - at);
            host.Recv(piece, (int)n, MPI_BYTE, from, 0, gathering,
                      MPI_STATUS_IGNORE);
            if (what)
                put_summary(piece, n);
            else
                put(to, piece, n);
        }
    to->whole += sizes[0] && !to->error;
}

static void close_file(file_t *to)
{
    if (to->fd >= 0 && close(to->fd) && !to->error)
        to->error = errno;
    if (to->error && to->fd >= 0 && !to->whole)
        unlink(sw_job.path);
    if (to->error)
        sw_say("the profile cannot be written to %s: %s (%d of %d ranks are "
               "there)",
               sw_job.path, strerror(to->error), to->whole, sw_job.ranks);
    if (to->ranks < sw_job.ranks)
        sw_say("%d of %d ranks have no profile: the system has no memory left "
               "for it (ulimit -v)",
               sw_job.ranks - to->ranks, sw_job.ranks);
}

static void gather(const part_t *mine)
{
    file_t to = {.fd = -1};
    if (sw_job.rank) {
        send_part(mine);
        return;
    }
    put_rank(&to, mine->block.size);
    put(&to, mine->block.at, mine->block.size);
    put_summary(mine->summary.at, mine->summary.size);
    to.whole = mine->block.size && !to.error;
    for (int i = 1; i < sw_job.ranks; i++)
        receive_part(&to, i);
    close_file(&to);
}

/* A rank without memory for its block is in no report. */
static void make_part(part_t *mine)
{
    *mine = (part_t){0};
    if (!sw_capture_block(SW_END_FINALIZE, 0, &mine->block)) {
        sw_blob_free(&mine->block);
        return;
    }
    sw_summary_make(&mine->summary);
    if (mine->summary.lost)
        sw_blob_free(&mine->summary);
}

/* In MPI_Finalize, before the host's: all ranks' blocks into one file. */
static void stop(void)
{
    SW_INSIDE;
    if (gathering == MPI_COMM_NULL)
        return;
    sw_job.stop = sw_clock_ticks();
    sw_recording_set(SW_RECORDING_OFF);
    sw_recorder_close_tracers();
    /* Every rank has then posted what others look for. */
    host.Barrier(gathering);
    sw_recorder_look_again();
    part_t mine;
    make_part(&mine);
    gather(&mine);
    sw_blob_free(&mine.block);
    sw_blob_free(&mine.summary);
    sw_ending_done();
    if (sw_job.rank == 0)
        sw_profile_page();
    /* A launcher ends all ranks when one of them exits with an error: none
     * leaves before the page is there. */
    host.Barrier(gathering);
    host.Comm_free(&gathering);
}

/* Procedures that begin and end ------------------------------------------- */

int sw_recorded_MPI_Init(int *argc, char ***argv)
{
    uint64_t before = begin();
    int result = served.Init(argc, argv);
    if (result == MPI_SUCCESS)
        start(sw_clock_ticks() - before);
    return result;
}

int sw_recorded_MPI_Init_thread(int *argc, char ***argv, int required,
                                int *provided)
{
    uint64_t before = begin();
    int result = served.Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS)
        start(sw_clock_ticks() - before);
    return result;
}

int sw_recorded_MPI_Finalize(void)
{
    stop();
    return served.Finalize();
}

int sw_recorded_MPI_Abort(MPI_Comm comm, int code)
{
    sw_ending_now(SW_END_ABORT);
    return served.Abort(comm, code);
}

/* 0 switches recording off, 1 on; n begins the region "phase n", -n ends it
 * (MPI 4.1, 15.2.4, leaves that to tools). */
int sw_recorded_MPI_Pcontrol(const int level, ...)
{
    if (!atomic_load(&sw_recording))
        return MPI_SUCCESS;
    if (level == 0 || level == 1)
        sw_recording_switch(level);
    else
        sw_region_level(level);
    return MPI_SUCCESS;
}
