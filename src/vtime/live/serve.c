/*
 * serve.c - straightway-whatif serve: the ranks of a running program, timed by
 * a model as they run.
 *
 *     serve --feeds FD --model MODEL [--result FILE] [--record OPS] [--check]
 *           [--detach]
 *
 * FD is a segment of feeds (feed/feed.h). The rank that starts this makes it
 * (feed/server.h), or the program that starts the ranks. FILE gets the result
 * (result.h) when all ranks have ended, whole or not at all; OPS gets the
 * operations (ops/file.h). With --detach the process that was started ends as
 * soon as all is ready, and a child of it goes on. That child is an orphan,
 * in a process group of its own. So it ends when its ranks have, not by the
 * signals that they get.
 *
 * Status 1: the model or the feeds cannot be used, and stderr says why;
 * without --detach also: there is no result; 3: a deadlock.
 */
#include "vtime/base/commands.h"
#include "live.h"
#include "vtime/model/model_file.h"
#include "vtime/ops/file.h"
#include "vtime/engine/result.h"
#include "vtime/feed/taker.h"
#include "node/os/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    int feeds;
    const char *model, *result, *record;
    bool check, detach;
} order_t;

static bool parse(char **argv, order_t *order)
{
    *order = (order_t){.feeds = -1};
    for (; *argv; argv++) {
        const char *value = argv[1];
        if (!strcmp(*argv, "--check"))
            order->check = true;
        else if (!strcmp(*argv, "--detach"))
            order->detach = true;
        else if (!value)
            return false;
        else if (!strcmp(*argv, "--feeds"))
            order->feeds = atoi(value), argv++;
        else if (!strcmp(*argv, "--model"))
            order->model = value, argv++;
        else if (!strcmp(*argv, "--result"))
            order->result = value, argv++;
        else if (!strcmp(*argv, "--record"))
            order->record = value, argv++;
        else
            return false;
    }
    return order->feeds > STDERR_FILENO && order->model;
}

/* The engine closes the job's descriptors: a launcher waits until no process
 * has its pipes any more. The engine keeps stderr and the feeds. */
static void close_others(int kept)
{
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *e; folder && (e = readdir(folder));) {
        int fd = atoi(e->d_name);
        if (fd > STDERR_FILENO && fd != kept && fd != dirfd(folder))
            close(fd);
    }
    if (folder)
        closedir(folder);
    for (int fd = STDERR_FILENO + 1; !folder && fd < 1024; fd++)
        if (fd != kept)
            close(fd);
}

/* The engine stays in the ranks' session. Linux shares the processor among
 * sessions first (sched(7), autogroup). An engine in another session may get
 * nothing for seconds, while the ranks that ask and other processes are busy.
 * True: this is the child, which goes on. */
static bool detach(sw_feeds_t *feeds)
{
    setpgid(0, 0);
    pid_t child = fork();
    if (child < 0) {
        fprintf(stderr,
                "straightway: no process for the engine of virtual "
                "time: %s\n",
                strerror(errno));
        _exit(1);
    }
    if (child) {
        sw_taker_serves(feeds, child);
        _exit(0);
    }
    return true;
}

/* As a sentence for a result's notes: ranks that have not ended well. */
static void note_ends(const sw_live_t *live, uint32_t ranks, char *text,
                      size_t size)
{
    static const struct {
        sw_live_end_t end;
        const char *how;
    } kinds[] = {
        {SW_LIVE_DIED, "died"},
        {SW_LIVE_EARLY, "ended before MPI_Finalize"},
        {SW_LIVE_ABSENT, "never came"},
    };
    size_t n = 0;
    *text = '\0';
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint32_t count = 0, first = 0;
        for (uint32_t r = ranks; r-- > 0;)
            if (sw_live_ended(live, r) == kinds[k].end) {
                first = r;
                count++;
            }
        if (count && n < size)
            n += (size_t)snprintf(text + n, size - n, "%srank %u%s %s",
                                  n ? "; " : "", first,
                                  count > 1 ? " and others" : "", kinds[k].how);
    }
}

/* Whole or not at all. */
static bool write_result(const char *path, const sw_result_t *result)
{
    size_t room = strlen(path) + SW_OS_DRAFT;
    char *aside = malloc(room);
    if (!aside)
        return false;
    int fd = sw_os_open_draft(path, aside, room);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    bool good = file;
    if (file) {
        sw_result_json(file, result);
        good = !ferror(file);
        good &= !fclose(file);
        good = good && !rename(aside, path);
    }
    if (!good) {
        int error = errno;
        fprintf(stderr,
                "straightway: the result cannot be written to %s: "
                "%s\n",
                path, strerror(error));
        unlink(aside);
    }
    free(aside);
    return good;
}

/* Until the ranks have ended. */
static sw_engine_state_t serve(sw_engine_t *engine, sw_live_t *live)
{
    for (;;) {
        sw_engine_state_t state = sw_engine_run(engine);
        if (state != SW_ENGINE_WAITS || sw_live_error(live) ||
            !sw_live_wait(live, engine))
            return state;
    }
}

static int finish(const order_t *order, sw_engine_t *engine, sw_live_t *live,
                  uint32_t ranks, sw_engine_state_t state, double wall,
                  sw_op_writer_t *writer)
{
    char ends[256], why[256];
    const char *error = sw_live_error(live);
    sw_engine_why(engine, why, sizeof why);
    if (!error && state == SW_ENGINE_WRONG)
        error = why;
    note_ends(live, ranks, ends, sizeof ends);
    sw_result_t result = {
        .engine = engine,
        .state = state,
        .ranks = ranks,
        .wall = wall,
        .sections = sw_live_sections(live),
        .notes = {error ? error : "", ends,
                  sw_live_sections_lost(live)
                      ? "the program has too many regions: some are counted as "
                        "outside of all"
                      : ""}};
    int status = 0;
    if (error || state == SW_ENGINE_MEMORY) {
        fprintf(stderr, "straightway: %s\n",
                error ? error
                      : "no memory left for the engine of virtual time");
        status = 1;
    } else if (state == SW_ENGINE_DEADLOCK && !*ends) {
        fprintf(stderr, "straightway: in virtual time, ");
        sw_result_stuck(stderr, &result);
        status = 3;
    } else if (*ends) {
        fprintf(stderr, "straightway: the prediction ends early: %s\n", ends);
    }
    sw_live_over(live);
    if (writer && !sw_op_writer_close(writer)) {
        fprintf(stderr,
                "straightway: the operations cannot be written to "
                "%s\n",
                order->record);
        status = 1;
    }
    if (order->result && !write_result(order->result, &result))
        status = 1;
    sw_live_written(live);
    return status;
}

static int work(const order_t *order, sw_feeds_t *feeds, sw_model_t *model)
{
    char note[64];
    sw_op_source_t source;
    sw_op_writer_t *writer = NULL;
    uint64_t began = sw_os_now();
    sw_live_t *live = sw_live_new(feeds);
    sw_engine_options_t options = {.check = order->check};
    if (live)
        sw_live_source(live, &source);
    sw_engine_t *engine = live ? sw_engine_new(model, &source, &options) : NULL;
    snprintf(note, sizeof note, "a run of %u ranks", feeds->ranks);
    if (engine && order->record) {
        writer = sw_op_writer_new(order->record, feeds->ranks, note);
        if (!writer)
            fprintf(stderr, "straightway: %s cannot be written: %s\n",
                    order->record, strerror(errno));
        else
            sw_live_record(live, writer, model->test);
    }
    int status = 1;
    if (!engine)
        fprintf(stderr, "straightway: no memory for %u ranks\n", feeds->ranks);
    if (engine && (writer || !order->record)) {
        if (!order->detach || detach(feeds)) {
            if (!order->detach)
                sw_taker_serves(feeds, getpid());
            sw_engine_state_t state = serve(engine, live);
            status = finish(order, engine, live, feeds->ranks, state,
                            (double)(sw_os_now() - began) * 1e-9, writer);
        }
    }
    if (engine)
        sw_engine_free(engine);
    sw_live_free(live);
    return status;
}

int sw_serve_command(char **argv)
{
    order_t order;
    if (!parse(argv, &order)) {
        fprintf(stderr,
                "straightway-whatif serve --feeds FD --model MODEL "
                "[--result FILE] [--record OPS] [--check] [--detach]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    close_others(order.feeds);
    sw_feeds_t *feeds = sw_feeds_map(order.feeds);
    if (!feeds) {
        fprintf(stderr,
                "straightway: the feeds to the engine of virtual time "
                "cannot be used: %s\n",
                errno == EINVAL ? "they are of another build"
                                : strerror(errno));
        return 1;
    }
    sw_model_t model;
    char why[1024];
    int status = 1;
    if (!sw_model_read(&model, order.model, why, sizeof why)) {
        fprintf(stderr, "straightway: %s\n", why);
    } else {
        if (model.ranks != feeds->ranks)
            fprintf(stderr,
                    "straightway: %s is a model of %u ranks, the "
                    "program has %u: say `ranks %u`\n",
                    order.model, model.ranks, feeds->ranks, feeds->ranks);
        else
            status = work(&order, feeds, &model);
        sw_model_free(&model);
    }
    sw_feeds_unmap(feeds);
    return status;
}
