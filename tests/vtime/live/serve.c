/*
 * A running program's ranks and the real engine. The times are known by hand,
 * virtual time decides choices, and a communicator may have several names. A
 * recording replays to the same end. The engine reports deadlocks, deaths and
 * contradictions, and leaves nothing behind.
 */
#include "vtime/program.h"
#include "serve_jobs.h"

#include <sched.h>

#define TRIPS 300

/* Half a round trip of 50 bytes: 100 + 1000 + 50 + 200 ns. */
static void ping_pong(sw_feed_t *feed, uint32_t rank)
{
    for (int i = 1; i <= TRIPS; i++) {
        if (rank == 0)
            compute(feed, 10);
        message(feed, rank ? SW_OP_RECV : SW_OP_SEND, !rank, 50, 0);
        message(feed, rank ? SW_OP_SEND : SW_OP_RECV, !rank, 50, 0);
        if (rank == 0 && i % 10 == 0)
            MUST(clock_ns(feed) == i * (10 + 2 * 1350));
    }
}

static void far_ahead(sw_feed_t *feed, uint32_t rank)
{
    /* Rank 0 is many full feeds ahead of rank 1. */
    if (rank)
        usleep(300000);
    for (int i = 0; i < 30000; i++)
        message(feed, rank ? SW_OP_RECV : SW_OP_SEND, !rank, 50, 0);
    if (rank)
        message(feed, SW_OP_SEND, 0, 50, 0);
    else
        message(feed, SW_OP_RECV, 1, 50, 0);
}

/* Rank 0 waits in virtual time for what rank 1 sends. Rank 1 says that it has
 * sent only after rank 0 has put more than fits into its feed. */
static int said[2];

static void held_up(sw_feed_t *feed, uint32_t rank)
{
    char c = 0;
    if (rank == 0) {
        message(feed, SW_OP_RECV, 1, 50, 0);
        for (int i = 0; i < 20000; i++)
            compute(feed, 1);
        MUST(write(said[1], &c, 1) == 1);
    } else {
        MUST(read(said[0], &c, 1) == 1);
        message(feed, SW_OP_SEND, 0, 50, 0);
    }
}

/* The last to come in real time is the first in virtual time. */
static void choices(sw_feed_t *feed, uint32_t rank)
{
    if (rank == 0) {
        for (int i = 0; i < 2; i++) {
            sw_op_answer_t answer = ask(feed, (sw_vop_t){.kind = SW_OP_CHOOSE,
                                                         .peer = SW_OP_ANY,
                                                         .tag = SW_OP_ANY});
            MUST(answer.peer == 2 - i && answer.tag == 7);
            MUST(answer.bytes == 50u + (unsigned)answer.peer);
            message(feed, SW_OP_RECV, answer.peer, 100, 0);
        }
        MUST(clock_ns(feed) == 5000 + 100 + 1000 + 51 + 200);
        return;
    }
    if (rank == 2)
        usleep(200000);
    compute(feed, rank == 1 ? 5000 : 1000);
    message(feed, SW_OP_SEND, 0, 50 + rank, 0);
}

#define MANY 3000u

/* Lists longer than a part of an answer. */
static void long_lists(sw_feed_t *feed, uint32_t rank)
{
    if (rank) {
        for (uint32_t i = 0; i < MANY; i++)
            message(feed, SW_OP_SEND, 0, 8, 0);
        return;
    }
    for (uint32_t i = 1; i <= MANY; i++)
        message(feed, SW_OP_RECV, 1, 8, i);
    compute(feed, 100000000);
    for (uint32_t i = MANY; i > 0; i--)
        MUST(sw_feed_put(feed, &(sw_vop_t){.kind = SW_OP_LIST, .request = i}));
    sw_op_answer_t answer = ask(
        feed, (sw_vop_t){.kind = SW_OP_SELECT, .what = SW_SELECT_SOME});
    bool seen[MANY] = {false};
    MUST(answer.count == MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        MUST(answer.which[i] < MANY && !seen[answer.which[i]]);
        seen[answer.which[i]] = true;
    }
}

/* Ranks 1 and 3 have a communicator to which each gives another name. Their
 * barrier joins their clocks, and no other rank's. */
static void communicators(sw_feed_t *feed, uint32_t rank)
{
    const uint32_t members[] = {3, 1};
    compute(feed, 1000 * (rank + 1));
    if (rank % 2) {
        MUST(sw_feed_context(feed, rank * 10, 99, 2, members));
        MUST(sw_feed_put(feed, &(sw_vop_t){.kind = SW_OP_COLLECTIVE,
                                           .what = SW_COLLECTIVE_BARRIER,
                                           .context = rank * 10,
                                           .peer = -1}));
    }
    MUST(clock_ns(feed) == (rank % 2 ? 4000 : 1000 * (rank + 1)));
}

/* The same traffic whenever it comes: what computes is drawn from `traffic`,
 * how long that really takes from `rests`. */
static uint64_t traffic, rests;

typedef struct {
    sw_feed_t *feed;
    uint32_t rank;
    uint64_t rest;
} at_t;

/* Each rank makes the whole program, and puts what is its own. */
static void to_feed(void *of, uint32_t rank, sw_vop_t op)
{
    at_t *at = of;
    if (rank != at->rank)
        return;
    if (random_from(&at->rest) % 64 == 0)
        usleep((useconds_t)(random_from(&at->rest) % 300));
    if (op.kind == SW_OP_SELECT || op.kind == SW_OP_CLOCK)
        ask(at->feed, op);
    else
        MUST(sw_feed_put(at->feed, &op));
}

static void any_traffic(sw_feed_t *feed, uint32_t rank)
{
    at_t at = {feed, rank, rests * 97 + rank + 1};
    program_t p = {.n = 5,
                   .rounds = 200,
                   .put = to_feed,
                   .of = &at,
                   .chance = traffic,
                   .asks = true};
    program_make(&p);
}

static void same_whenever(void)
{
    sw_ps_t end = 0;
    for (rests = 1; rests <= 3; rests++) {
        char text[64];
        uint64_t n;
        traffic = 20061122;
        job_t job = {.ranks = 5, .run = any_traffic, .record = true};
        run_job(&job, MODEL);
        sw_ps_t again = replay(&job, &n);
        snprintf(text, sizeof text, "\"end_ns\": %lld%s",
                 (long long)(again / NS), again % NS ? "." : ",");
        MUST(has(job.result, text));
        MUST(rests == 1 || again == end);
        end = again;
        empty_folder(job.folder);
    }
}

static void contradiction(sw_feed_t *feed, uint32_t rank)
{
    const uint32_t members[] = {0, 1}, others[] = {1, 0};
    sw_op_answer_t answer;
    /* Refused already, where the engine is quicker than the return. */
    sw_feed_context(feed, 1, 5, 2, rank ? members : others);
    while (sw_feed_ask(feed, &(sw_vop_t){.kind = SW_OP_CLOCK}, &answer))
        usleep(1000);
}

static void head_to_head(sw_feed_t *feed, uint32_t rank)
{
    sw_op_answer_t answer;
    compute(feed, 10);
    sw_vop_t op = {.kind = SW_OP_RECV, .peer = !rank, .tag = 7, .bytes = 8};
    sw_feed_put(feed, &op);
    op = (sw_vop_t){.kind = SW_OP_CLOCK, .flags = SW_CLOCK_PAUSE};
    MUST(!sw_feed_ask(feed, &op, &answer));
    MUST(!sw_feed_put(feed, &op));
}

static void one_dies(sw_feed_t *feed, uint32_t rank)
{
    sw_op_answer_t answer;
    if (rank == 1)
        raise(SIGKILL);
    message(feed, SW_OP_RECV, 1, 8, 0);
    MUST(!sw_feed_ask(feed,
                      &(sw_vop_t){.kind = SW_OP_CLOCK, .flags = SW_CLOCK_PAUSE},
                      &answer));
}

/* The test binds rank 0 and the process that starts the engine to the first
 * processor, and rank 1 to the last. The engine may use both. */
static cpu_set_t all, first, last, both;

static void choose_cpus(void)
{
    int from = -1, to = -1;
    MUST(!sched_getaffinity(0, sizeof all, &all));
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all)) {
            from = from < 0 ? i : from;
            to = i;
        }
    CPU_SET(from, &first);
    CPU_SET(to, &last);
    CPU_OR(&both, &first, &last);
}

static void sleeps(sw_feed_t *feed, uint32_t rank)
{
    MUST(rank == 0 || !sched_setaffinity(0, sizeof last, &last));
    usleep(700000);
}

/* The engine has nothing of the job's: no descriptors, settings or processor
 * time. No process waits for it as for a child. */
static void engine_is_alone(sw_feeds_t *feeds, const pid_t *rank)
{
    char path[64], text[65536], link[256];
    int pid = (int)feeds->head->server.pid;
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    int fd = open(path, O_RDONLY);
    size_t n = get_all(fd, text, sizeof text);
    close(fd);
    MUST(n);
    for (size_t i = 0; i < n; i += strlen(text + i) + 1)
        MUST(strncmp(text + i, "LD_PRELOAD", 10) &&
             strncmp(text + i, "STRAIGHTWAY_", 12));
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *files = opendir(path);
    MUST(files);
    for (struct dirent *e; (e = readdir(files));) {
        if (*e->d_name == '.')
            continue;
        ssize_t got = readlinkat(dirfd(files), e->d_name, link, 255);
        MUST(got > 0);
        link[got] = '\0';
        MUST(atoi(e->d_name) == 2 || !strcmp(link, "/dev/null") ||
             strstr(link, "straightway-feeds"));
    }
    closedir(files);
    MUST(getsid(pid) == getsid(0) && getpgid(pid) != getpgrp());
    cpu_set_t its;
    CPU_ZERO(&its);
    for (int i = 0; i < 400 && !CPU_EQUAL(&both, &its); i++)
        MUST(!usleep(1000) && !sched_getaffinity(pid, sizeof its, &its));
    MUST(CPU_EQUAL(&both, &its));
    clockid_t clock;
    struct timespec before, after;
    MUST(!clock_getcpuclockid(pid, &clock));
    clock_gettime(clock, &before);
    usleep(200000);
    MUST(!clock_gettime(clock, &after));
    MUST((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
             before.tv_nsec <
         50000000);
}

/* Ranks number regions as they come to them; a name may be long, and of any
 * bytes. What rank 1 sends at 2000 is received at 3350. */
static char long_name[SW_FEED_NAME + 50];

static void regions(sw_feed_t *feed, uint32_t rank)
{
    if (rank) {
        MUST(sw_feed_section(feed, 1, "late"));
        section(feed, 1);
        compute(feed, 2000);
    } else {
        MUST(sw_feed_section(feed, 3, "a \"b\"/\xff\n"));
        MUST(sw_feed_section(feed, 5, "late"));
        MUST(sw_feed_section(feed, 6, long_name));
        compute(feed, 500);
        section(feed, 6);
        section(feed, 5);
    }
    message(feed, rank ? SW_OP_SEND : SW_OP_RECV, !rank, 50, 0);
    if (!rank) {
        section(feed, 3);
        compute(feed, 70);
    }
    section(feed, 0);
    MUST(clock_ns(feed) == (rank ? 2100 : 3420));
}

/* Live and replayed they are the same. */
static void known_regions(void)
{
    char live[8192], again[8192], name[SW_FEED_NAME + 100];
    uint64_t n;
    memset(long_name, 'x', sizeof long_name - 1);
    job_t job = {.ranks = 2, .run = regions, .record = true};
    run_job(&job, MODEL);
    MUST(replay(&job, &n) == 3420 * NS);
    sections_of(job.result, live, sizeof live);
    sections_of(replayed, again, sizeof again);
    MUST(!strcmp(live, again));
    MUST(has(live, "{\"name\": \"late\", \"ranks\": 2, \"sums\": {"
                   "\"end_ns\": 4950, \"compute_ns\": 2000, \"noise_ns\": 0, "
                   "\"messages_ns\": 2950, \"collectives_ns\": 0, "
                   "\"waiting_ns\": 1500}, \"longest\": 0, \"most\": {"
                   "\"end_ns\": 2850, "));
    MUST(has(live, "{\"name\": \"a \\\"b\\\"/\\u00ff\\u000a\", \"ranks\": "
                   "1, \"sums\": {\"end_ns\": 70, "));
    MUST(has(live, "{\"name\": \"\", \"ranks\": 2, \"sums\": {"
                   "\"end_ns\": 500, "));
    snprintf(name, sizeof name, "\"name\": \"%.*s\", \"ranks\": 1",
             (int)SW_FEED_NAME, long_name);
    MUST(has(live, name));
    empty_folder(job.folder);
}

static void known_times(void)
{
    char text[64];
    uint64_t n;
    job_t job = {.ranks = 2, .run = ping_pong, .record = true};
    run_job(&job, MODEL);
    snprintf(text, sizeof text, "\"end_ns\": %d", TRIPS * (10 + 2 * 1350));
    MUST(has(job.result, "\"state\": \"done\"") && has(job.result, text));
    MUST(!*job.told);
    MUST(replay(&job, &n) == TRIPS * (10 + 2 * 1350) * NS);
    MUST(n == 2 * TRIPS * 2 + TRIPS);
    MUST(empty_folder(job.folder) == 3);

    job = (job_t){.ranks = 2, .run = far_ahead};
    run_job(&job, MODEL);
    MUST(has(job.result, "\"messages\": 30001"));
    MUST(empty_folder(job.folder) == 2);

    job = (job_t){.ranks = 2, .run = held_up};
    MUST(!pipe(said));
    run_job(&job, MODEL);
    MUST(has(job.result, "\"end_ns\": 21350,"));
    empty_folder(job.folder);

    job = (job_t){.ranks = 3, .run = choices, .record = true};
    run_job(&job, MODEL);
    MUST(has(job.result, "\"end_ns\": 6351,"));
    MUST(replay(&job, &n) == 6351 * NS && n == 6);
    empty_folder(job.folder);

    job = (job_t){.ranks = 2, .run = long_lists, .record = true};
    run_job(&job, MODEL);
    MUST(has(job.result, "\"state\": \"done\""));
    char end[64];
    snprintf(end, sizeof end, "\"end_ns\": %lld",
             (long long)(replay(&job, &n) / NS));
    MUST(has(job.result, end) && n == 3 * MANY + 1);
    empty_folder(job.folder);

    job = (job_t){.ranks = 4, .run = communicators};
    run_job(&job, MODEL);
    MUST(has(job.result, "\"barrier\": {\"calls\": 2"));
    empty_folder(job.folder);
}

static void told(void)
{
    job_t job = {.ranks = 2, .run = head_to_head};
    run_job(&job, MODEL);
    MUST(has(job.told, "deadlock") && has(job.told, "receive from 0, tag 7") &&
         has(job.told, "receive from 1, tag 7"));
    MUST(has(job.told, "virtual time has ended"));
    MUST(has(job.result, "\"state\": \"deadlock\""));
    MUST(empty_folder(job.folder) == 2);

    job = (job_t){.ranks = 2, .run = one_dies, .may_fail = true};
    run_job(&job, MODEL);
    MUST(has(job.told, "rank 1 died") && has(job.result, "rank 1 died"));
    MUST(empty_folder(job.folder) == 2);

    job = (job_t){.ranks = 2, .run = contradiction};
    run_job(&job, MODEL);
    MUST(has(job.told, "disagrees") && has(job.result, "disagrees"));
    MUST(empty_folder(job.folder) == 2);
}

static void alone(void)
{
    setenv("STRAIGHTWAY_TEST", "on", 1);
    setenv("LD_PRELOAD", "", 1);
    int open_pipe[2];
    MUST(!pipe(open_pipe) && open_pipe[0] > 2);
    job_t job = {.ranks = 2, .run = sleeps, .beside = engine_is_alone};
    choose_cpus();
    MUST(!sched_setaffinity(0, sizeof first, &first));
    run_job(&job, MODEL);
    MUST(!sched_setaffinity(0, sizeof all, &all));
    MUST(has(job.result, "\"state\": \"done\""));
    MUST(waitpid(-1, NULL, WNOHANG) < 0); /* no child is left */
    empty_folder(job.folder);
    close(open_pipe[0]);
    close(open_pipe[1]);
}

/* It cannot start: told once, and the caller goes on. */
static void refused(void)
{
    char path[128], text[1024];
    job_t job = {.ranks = 2};
    job_folder(&job, "nonsense 1\n");
    snprintf(path, sizeof path, "%s/model", job.folder);
    int fd = sw_feeds_make(2), before = dup(STDERR_FILENO), err[2];
    MUST(!pipe(err));
    dup2(err[1], STDERR_FILENO);
    close(err[1]);
    sw_server_t server = {.program = "/proc/self/exe", .model = path};
    bool started = sw_server_start(fd, &server);
    server.program = "/nowhere/straightway-whatif";
    started |= sw_server_start(fd, &server);
    dup2(before, STDERR_FILENO);
    get_all(err[0], text, sizeof text);
    MUST(!started && has(text, "nonsense") && has(text, "/nowhere/"));
    close(err[0]);
    close(fd);
    empty_folder(job.folder);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "serve"))
        return sw_serve_command(argv + 2);
    alarm(110);
    known_times();
    known_regions();
    same_whenever();
    told();
    alone();
    refused();
    return 0;
}
