/*
 * serve_jobs.h - small jobs of forked "ranks" with the real engine beside them:
 * this program is also straightway-whatif serve.
 */
#ifndef SERVE_JOBS_H
#define SERVE_JOBS_H

#include "must.h"
#include "node/os/os.h"
#include "vtime/engine/engine_file.h"
#include "vtime/base/commands.h"
#include "vtime/feed/ring.h"
#include "vtime/feed/server.h"
#include "vtime/model/model_file.h"
#include "vtime/ops/file.h"
#include "vtime/engine/result.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A message of s bytes takes 100 + 1000 + s + 200 ns from send to received. */
#define MODEL                                                         \
    "link domain o_send 100 o_recv 200 L 1000 g 0 O_send 0 O_recv 0 " \
    "G 1 S 65536\n"                                                   \
    "free all\n"
#define NS SW_PS_PER_NS

typedef struct {
    uint32_t ranks;
    void (*run)(sw_feed_t *feed, uint32_t rank); /* a rank */
    /* In the process that has started all, while they run; or NULL. */
    void (*beside)(sw_feeds_t *feeds, const pid_t *rank);
    bool record;
    bool may_fail;                  /* ranks may end otherwise than well */
    char result[65536], told[8192]; /* the result, and stderr */
    char folder[64];
} job_t;

static inline void put_file(const char *folder, const char *name,
                            const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    MUST(file && fputs(text, file) >= 0 && !fclose(file));
}

static inline size_t get_all(int fd, char *to, size_t room)
{
    size_t n = 0;
    ssize_t got;
    while (n < room - 1 && (got = read(fd, to + n, room - 1 - n)) > 0)
        n += (size_t)got;
    to[n] = '\0';
    return n;
}

static inline void get_file(const char *folder, const char *name, char *to,
                            size_t room)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY);
    *to = '\0';
    if (fd >= 0)
        get_all(fd, to, room);
    close(fd);
}

/* Files of a folder; they are removed. */
static inline int empty_folder(const char *folder)
{
    int n = 0;
    char path[512];
    DIR *files = opendir(folder);
    MUST(files);
    for (struct dirent *e; (e = readdir(files));)
        if (*e->d_name != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            MUST(!unlink(path));
            n++;
        }
    closedir(files);
    MUST(!rmdir(folder));
    return n;
}

/* Makes the folder, with the model in it. */
static inline void job_folder(job_t *job, const char *model)
{
    char text[4096];
    snprintf(job->folder, sizeof job->folder, "/tmp/serve-test-XXXXXX");
    MUST(mkdtemp(job->folder));
    snprintf(text, sizeof text, "ranks %u\nplace %u %u\n%s", job->ranks,
             job->ranks, job->ranks, model);
    put_file(job->folder, "model", text);
}

/* Runs a job until all have ended, the engine, too. Files stay until
 * empty_folder. */
static inline void run_job(job_t *job, const char *model)
{
    char paths[3][128];
    int err[2], before = dup(STDERR_FILENO);
    pid_t of[256];
    job_folder(job, model);
    snprintf(paths[0], 128, "%s/model", job->folder);
    snprintf(paths[1], 128, "%s/result", job->folder);
    snprintf(paths[2], 128, "%s/ops", job->folder);
    int fd = sw_feeds_make(job->ranks);
    sw_feeds_t *feeds = sw_feeds_map(fd);
    MUST(feeds && !pipe(err));
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    fcntl(err[1], F_SETPIPE_SZ, 65536);
    dup2(err[1], STDERR_FILENO);
    close(err[1]);
    sw_server_t server = {.program = "/proc/self/exe",
                          .model = paths[0],
                          .result = paths[1],
                          .check = true,
                          .record = job->record ? paths[2] : NULL};
    bool started = sw_server_start(fd, &server);
    for (uint32_t r = 0; r < job->ranks; r++) {
        of[r] = fork();
        if (of[r])
            continue;
        sw_feeds_t *mine = sw_feeds_map(fd);
        sw_feed_t *feed = sw_feed_begin(mine, r);
        MUST(feed);
        job->run(feed, r);
        sw_feed_end(feed, true);
        sw_feeds_unmap(mine);
        _exit(0);
    }
    dup2(before, STDERR_FILENO);
    close(before);
    MUST(started);
    if (job->beside)
        job->beside(feeds, of);
    int failed = 0;
    for (uint32_t r = 0; r < job->ranks; r++) {
        int status;
        MUST(waitpid(of[r], &status, 0) == of[r]);
        failed += status != 0;
    }
    bool written = sw_server_wait(feeds);
    uint64_t since = sw_os_now();
    while (!sw_watch_gone(&feeds->head->server)) {
        usleep(1000);
        if (sw_os_now() - since > 5000000000u)
            break;
    }
    bool gone = sw_watch_gone(&feeds->head->server);
    get_all(err[0], job->told, sizeof job->told);
    close(err[0]);
    get_file(job->folder, "result", job->result, sizeof job->result);
    if (failed && !job->may_fail)
        fprintf(stderr, "%s", job->told);
    MUST(job->may_fail || !failed);
    MUST(written && gone);
    sw_feeds_unmap(feeds);
    close(fd);
}

static char replayed[65536]; /* its result */

/* What was recorded, timed again. */
static inline sw_ps_t replay(const job_t *job, uint64_t *operations)
{
    char path[128], why[256];
    sw_model_t model;
    sw_op_source_t source;
    sw_engine_result_t result;
    snprintf(path, sizeof path, "%s/model", job->folder);
    MUST(sw_model_read(&model, path, why, sizeof why));
    snprintf(path, sizeof path, "%s/ops", job->folder);
    sw_op_file_t *ops = sw_op_open(path, why, sizeof why);
    MUST(ops);
    *operations = sw_op_count(ops);
    sw_op_source(ops, &source);
    sw_engine_t *engine = sw_engine_new(&model, &source,
                                        &(sw_engine_options_t){true});
    MUST(engine && sw_engine_contexts(engine, ops));
    MUST(sw_engine_run(engine) == SW_ENGINE_DONE);
    sw_engine_result(engine, &result);
    FILE *text = fmemopen(replayed, sizeof replayed, "w");
    MUST(text);
    sw_result_json(text, &(sw_result_t){.engine = engine,
                                        .ranks = sw_op_ranks(ops),
                                        .sections = sw_op_sections(ops)});
    MUST(!fclose(text));
    sw_ps_t end = result.end;
    sw_engine_free(engine);
    sw_model_free(&model);
    sw_op_close(ops);
    return end;
}

/* The result's list of sections, up to what follows it. */
static inline void sections_of(const char *result, char *to, size_t room)
{
    const char *from = strstr(result, "\"sections\": [");
    const char *end = from ? strstr(from, "], \"") : NULL;
    MUST(end && (size_t)(end - from) < room);
    memcpy(to, from, (size_t)(end - from));
    to[end - from] = '\0';
}

static inline bool has(const char *text, const char *part)
{
    if (strstr(text, part))
        return true;
    fprintf(stderr, "no \"%s\" in: %s\n", part, text);
    return false;
}

/* Operations ----------------------------------------------------------- */

static inline void compute(sw_feed_t *feed, sw_ps_t ns)
{
    sw_vop_t op = {.kind = SW_OP_COMPUTE, .time = ns * NS};
    MUST(sw_feed_put(feed, &op));
}

static inline void section(sw_feed_t *feed, uint32_t number)
{
    sw_vop_t op = {.kind = SW_OP_SECTION, .bytes = number};
    MUST(sw_feed_put(feed, &op));
}

static inline void message(sw_feed_t *feed, int kind, int peer, uint32_t bytes,
                           uint32_t request)
{
    sw_vop_t op = {.kind = (uint8_t)kind,
                   .peer = peer,
                   .tag = 7,
                   .bytes = bytes,
                   .request = request};
    MUST(sw_feed_put(feed, &op));
}

static inline sw_op_answer_t ask(sw_feed_t *feed, sw_vop_t op)
{
    sw_op_answer_t answer;
    MUST(sw_feed_ask(feed, &op, &answer));
    return answer;
}

static inline sw_ps_t clock_ns(sw_feed_t *feed)
{
    return ask(feed, (sw_vop_t){.kind = SW_OP_CLOCK}).clock / NS;
}

#endif
