/*
 * The engine ends by itself, and leaves nothing but its result, however its job
 * ends. A kill comes at a random moment: to all ranks at once, to one after the
 * other, before any rank has come, or to the starter alone.
 */
#include "serve_jobs.h"

#define RANKS 4u

/* Round and round, with questions, for ever. */
static void busy(sw_feed_t *feed, uint32_t rank)
{
    for (uint64_t i = 0;; i++) {
        compute(feed, 100);
        message(feed, SW_OP_SEND, (int)((rank + 1) % RANKS), 50, 1);
        message(feed, SW_OP_RECV, (int)((rank + RANKS - 1) % RANKS), 50, 0);
        sw_vop_t op = {.kind = SW_OP_WAIT, .request = 1};
        MUST(sw_feed_put(feed, &op));
        if (i % 5 == 0)
            clock_ns(feed);
    }
}

enum { ALL_KILLED, ONE_BY_ONE, NOBODY_CAME, SOME_CAME, WAYS };

/* What mpirun and rank 0 would be: starts the engine, and ranks, and waits. */
static void starter(const job_t *job, int fd, int way, int ready)
{
    char paths[2][128];
    snprintf(paths[0], 128, "%s/model", job->folder);
    snprintf(paths[1], 128, "%s/result", job->folder);
    sw_server_t server = {
        .program = "/proc/self/exe", .model = paths[0], .result = paths[1]};
    MUST(sw_server_start(fd, &server));
    uint32_t come = way == NOBODY_CAME ? 0 : way == SOME_CAME ? 2 : RANKS;
    pid_t of[RANKS] = {0};
    int there[2];
    MUST(!pipe(there));
    for (uint32_t r = 0; r < come; r++)
        if (!(of[r] = fork())) {
            sw_feeds_t *feeds = sw_feeds_map(fd);
            sw_feed_t *feed = sw_feed_begin(feeds, r);
            MUST(feed && write(there[1], "", 1) == 1);
            busy(feed, r);
        }
    /* One that is killed before it has begun has never come. */
    for (uint32_t r = 0; r < come; r++)
        MUST(read(there[0], &(char){0}, 1) == 1);
    MUST(write(ready, of, sizeof of) == sizeof of);
    pause();
}

static void ends(int way, unsigned after_us)
{
    /* Of those that die it may have seen the first only. */
    static const char *const says[] = {
        [ALL_KILLED] = " died",
        [ONE_BY_ONE] = " died",
        [NOBODY_CAME] = "rank 0 and others never came",
        [SOME_CAME] = " died",
    };
    job_t job = {.ranks = RANKS};
    job_folder(&job, MODEL);
    int fd = sw_feeds_make(RANKS), ready[2], err[2];
    sw_feeds_t *feeds = sw_feeds_map(fd);
    pid_t of[RANKS];
    MUST(feeds && !pipe(ready) && !pipe(err));
    pid_t first = fork();
    if (!first) {
        /* The feeds name this process as their maker. */
        sw_watch_process(&feeds->head->maker, getpid());
        dup2(err[1], STDERR_FILENO);
        close(err[0]);
        close(err[1]);
        starter(&job, fd, way, ready[1]);
    }
    close(err[1]);
    MUST(read(ready[0], of, sizeof of) == sizeof of);
    usleep(after_us);
    kill(first, SIGKILL);
    for (uint32_t r = 0; r < RANKS; r++)
        if (of[r]) {
            if (way == ONE_BY_ONE)
                usleep(after_us);
            kill(of[r], SIGKILL);
        }
    waitpid(first, NULL, 0);
    uint64_t since = sw_os_now();
    /* As a launcher would: to the end of the pipe. */
    get_all(err[0], job.told, sizeof job.told);
    MUST(sw_os_now() - since < 3000000000u);
    MUST(has(job.told, says[way]));
    get_file(job.folder, "result", job.result, sizeof job.result);
    MUST(has(job.result, says[way]));
    MUST(empty_folder(job.folder) == 2);
    while (!sw_watch_gone(&feeds->head->server))
        MUST(sw_os_now() - since < 4000000000u && !usleep(1000));
    close(err[0]);
    close(ready[0]);
    close(ready[1]);
    sw_feeds_unmap(feeds);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "serve"))
        return sw_serve_command(argv + 2);
    alarm(110);
    uint64_t state = 4711;
    for (int i = 0; i < 3; i++)
        for (int way = 0; way < WAYS; way++)
            ends(way, (unsigned)(random_from(&state) % 60000));
    return 0;
}
