/*
 * begin.c - the beginning and the end of virtual time, in MPI_Init and
 * MPI_Finalize.
 *
 * Rank 0 makes the feeds and starts the engine, the others map the feeds
 * through rank 0's /proc/PID/fd. All ranks must agree that this has succeeded:
 * if it has not, a line says why and the job ends, as with any wrong option.
 * Virtual time is 0 when MPI_Init returns.
 */
#include "virtual.h"

#include "mpi/base/roster.h"
#include "contract/clocks.h"
#include "node/launcher.h"
#include "node/os/os.h"
#include "node/base/settings.h"
#include "profile/record/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 64 /* of an affinity mask: 4,096 processors */

MPI_Comm sw_virtual_private = MPI_COMM_NULL;

static sw_feeds_t *feeds;
static int me, ranks;

/* What rank 0 tells the others. */
typedef struct {
    int32_t begun; /* the engine is there */
    int32_t pid, fd;
    sw_file_id_t file; /* that fd is of */
    sw_virtual_model_t model;
} hello_t;

/* A rank needs two numbers of the model; what is wrong in the file the engine
 * says. */
static void read_model(const char *path, sw_virtual_model_t *to)
{
    char line[512], word[32];
    double number;
    *to = (sw_virtual_model_t){.cpu_speed = 1.0};
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31s %lf", word, &number) != 2)
            continue;
        if (!strcmp(word, "cpu_speed") && number > 0)
            to->cpu_speed = number;
        else if (!strcmp(word, "test") && number >= 0)
            to->test = (sw_ps_t)(number * (double)SW_PS_PER_NS + 0.5);
    }
    if (file)
        fclose(file);
}

static const char *or_null(const char *text)
{
    return text && *text ? text : NULL;
}

/* On rank 0. */
static void start_engine(hello_t *hello)
{
    sw_server_t server = {
        .model = sw_settings.whatif,
        .result = or_null(sw_settings.whatif_result),
        .record = or_null(sw_settings.whatif_record),
        .check = sw_settings.whatif_check,
    };
    hello->fd = sw_feeds_make((uint32_t)ranks);
    hello->file = sw_os_file_id(hello->fd);
    hello->pid = getpid();
    if (hello->fd < 0) {
        sw_say("there is no shared memory for virtual time: %s",
               strerror(errno));
        return;
    }
    read_model(server.model, &hello->model);
    hello->begun = sw_server_start(hello->fd, &server);
}

static bool map_feeds(const hello_t *hello)
{
    int fd = me == 0 ? hello->fd
                     : sw_os_peer_fd(hello->pid, hello->fd, hello->file);
    feeds = fd < 0 ? NULL : sw_feeds_map(fd);
    if (!feeds)
        sw_say("rank %d cannot map the memory for virtual time: %s", me,
               strerror(errno));
    if (fd >= 0 && me != 0)
        close(fd);
    return feeds != NULL;
}

static bool all_well(bool here)
{
    int mine = here, all = 0;
    host.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, sw_virtual_private);
    return all;
}

/* Ranks may be bound to cores of their own, or all have all. */
static int cores(void)
{
    uint64_t mine[WORDS] = {0}, all[WORDS];
    int n = 0;
    sw_os_affinity(mine, WORDS);
    host.Allreduce(mine, all, WORDS, MPI_UINT64_T, MPI_BOR, sw_virtual_private);
    for (int i = 0; i < WORDS; i++)
        n += __builtin_popcountll(all[i]);
    return n;
}

__attribute__((noreturn)) static void give_up(void)
{
    host.Finalize();
    exit(2);
}

/* True: all ranks have their feeds. */
static bool begin(void)
{
    hello_t hello = {.fd = -1};
    if (sw_roster.places != sw_roster.ranks) {
        if (me == 0)
            sw_say("STRAIGHTWAY_WHATIF: all ranks must run on one node; give "
                   "the launcher a single host");
        return false;
    }
    if (me == 0)
        start_engine(&hello);
    host.Bcast(&hello, (int)sizeof hello, MPI_BYTE, 0, sw_virtual_private);
    if (!hello.begun)
        return false;
    sw_virtual_model = hello.model;
    bool mapped = map_feeds(&hello);
    bool well = all_well(mapped);
    if (me == 0)
        close(hello.fd);
    return well;
}

static void start(void)
{
    SW_INSIDE;
    if (atomic_load(&sw_virtual_on) || feeds)
        return;
    if (sw_roster.spawned) {
        if (sw_launcher_first_rank())
            sw_say("spawned processes are not in virtual time");
        return;
    }
    sw_clock_start();
    sw_cpu_clock_start(sw_clock_counts ? sw_clock_tick : 0);
    me = sw_roster.rank;
    ranks = sw_roster.ranks;
    sw_virtual_shared = sw_threaded;
    if (host.Comm_dup(MPI_COMM_WORLD, &sw_virtual_private) != MPI_SUCCESS)
        return;
    if (!begin())
        give_up();
    sw_virtual_cores = (uint32_t)(cores() / ranks);
    sw_virtual_crowded = sw_virtual_cores == 0;
    sw_feed_awake = !sw_virtual_crowded;
    sw_known_comm_meet(MPI_COMM_WORLD);
    sw_known_comm_meet(MPI_COMM_SELF);
    sw_feed_t *feed = sw_feed_begin(feeds, (uint32_t)me);
    if (!all_well(feed != NULL)) {
        if (me == 0)
            sw_say("a rank has no feed in virtual time");
        give_up();
    }
    sw_feed_idle = sw_virtual_progress;
    sw_virtual_start(feed);
    /* Others may read clocks meanwhile, and name regions. */
    sw_virtual_turns = sw_roster.level == MPI_THREAD_SERIALIZED;
    sw_virtual_clocks_start();
    sw_virtual_regions_start();
}

/* Before the host's MPI_Finalize. */
static void stop(void)
{
    SW_INSIDE;
    if (!feeds)
        return;
    sw_virtual_regions_stop();
    /* Clocks go on from here. */
    sw_ps_t now;
    if (sw_clocks_wanted())
        sw_virtual_time(&now);
    sw_feed_t *feed = sw_virtual_stop();
    /* Others may have to hear that this rank does nothing more before they
     * take what is still on its way to them. */
    if (feed)
        sw_feed_end(feed, true);
    sw_virtual_detached_end();
    uint64_t mine = sw_virtual_unmodelled_calls(), all = 0;
    host.Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, sw_virtual_private);
    if (me == 0 && all)
        sw_say("%llu calls could not be modelled, and took no time",
               (unsigned long long)all);
    if (me == 0 && !sw_server_wait(feeds))
        sw_say("the engine of virtual time has ended without a result");
    sw_feeds_unmap(feeds);
    feeds = NULL;
    MPI_Comm private = sw_virtual_private;
    sw_virtual_private = MPI_COMM_NULL;
    host.Comm_free(&private);
}

int sw_virtual_MPI_Init(int *argc, char ***argv)
{
    sw_clocks_init();
    sw_clock_open();
    int result = served.Init(argc, argv);
    if (result == MPI_SUCCESS)
        start();
    return result;
}

int sw_virtual_MPI_Init_thread(int *argc, char ***argv, int required,
                               int *provided)
{
    sw_clocks_init();
    sw_clock_open();
    int result = served.Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS)
        start();
    return result;
}

int sw_virtual_MPI_Finalize(void)
{
    SW_VIRTUAL;
    sw_virtual_begin(&v, &sw_from);
    stop();
    return served.Finalize();
}

int sw_virtual_MPI_Abort(MPI_Comm comm, int code)
{
    sw_feed_t *feed = sw_virtual_stop();
    if (feed)
        sw_feed_end(feed, false);
    return served.Abort(comm, code);
}
