/*
 * The feeds: what ranks put arrives in order and whole, whichever end is slow.
 * Answers come back whole, however long. Neither end sleeps for ever when the
 * other dies.
 */
#include "must.h"
#include "node/os/os.h"
#include "sanitized.h"
#include "vtime/feed/taker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void nap(uint64_t *state, unsigned most_us)
{
    if (random_from(state) % 64 == 0)
        usleep((useconds_t)(random_from(state) % most_us));
}

/* What the n-th operation of a rank must be. */
static sw_vop_t nth(uint32_t rank, uint64_t n)
{
    uint64_t state = (rank + 1) * 0x9e3779b97f4a7c15u + n + 1;
    random_from(&state);
    return (sw_vop_t){.kind = (uint8_t)(1 + n % 7),
                      .flags = (uint16_t)rank,
                      .tag = (int32_t)n,
                      .bytes = random_from(&state),
                      .sent = n,
                      .time = (int64_t)rank << 32 | (uint32_t)n};
}

static uint32_t list_length(uint64_t n)
{
    static const uint32_t lengths[] = {
        0, 1, 3, SW_FEED_PLACES, SW_FEED_PLACES + 1, 5000, 100000};
    return lengths[n % 7];
}

static uint32_t place(uint64_t n, uint32_t i)
{
    return (uint32_t)(n * 2654435761u) ^ i;
}

#define ASKS 64 /* every so many operations a rank asks */
#define COUNT (SANITIZED ? 12000u : 40000u) /* operations */

/* A wake-up that is lost is made up for by a look around, every 100 ms. */
#define STALL 90000000u
static uint64_t waited; /* as this began, see kept_waiting */

/* So long, in ns, was there a thread that had no core to run on, since the
 * system began; 0: it does not tell. The figure is in us. */
static uint64_t kept_waiting(void)
{
    unsigned long long us = 0;
    FILE *f = fopen("/proc/pressure/cpu", "r");
    if (f && fscanf(f, "some %*s %*s %*s total=%llu", &us) != 1)
        us = 0;
    if (f)
        fclose(f);
    return us * 1000;
}

/* A few such waits are the system's, and on a loaded machine as many as it kept
 * threads waiting for a core. */
static void count_stall(uint64_t since, int *stalls)
{
    if (sw_os_now() - since > STALL && ++*stalls > 5)
        MUST((uint64_t)*stalls <= 5 + (kept_waiting() - waited) / STALL);
}

/* A rank: operations, questions, communicators, rests at random. */
static void rank_runs(sw_feeds_t *feeds, uint32_t rank, unsigned rest_us,
                      uint64_t count)
{
    sw_feed_t *feed = sw_feed_begin(feeds, rank);
    uint64_t state = rank + 77;
    int stalls = 0;
    MUST(feed);
    for (uint64_t n = 0; n < count; n++) {
        sw_vop_t op = nth(rank, n);
        if (rest_us)
            nap(&state, rest_us);
        if (n % 5000 == 11) {
            uint32_t size = (uint32_t)(n % 97 + 1);
            uint32_t *members = malloc(size * sizeof *members);
            for (uint32_t i = 0; i < size; i++)
                members[i] = i * 3 + rank;
            MUST(sw_feed_context(feed, (uint32_t)n, n * n, size, members));
            free(members);
        }
        uint64_t since = sw_os_now();
        if (n % ASKS) {
            MUST(sw_feed_put(feed, &op));
            count_stall(since, &stalls);
            continue;
        }
        sw_op_answer_t answer;
        MUST(sw_feed_ask(feed, &op, &answer));
        count_stall(since, &stalls);
        MUST(answer.clock == (sw_ps_t)(n * 3 + rank));
        MUST(answer.bytes == n && answer.tag == -(int32_t)n);
        MUST(answer.count == list_length(n / ASKS));
        for (uint32_t i = 0; i < answer.count; i++)
            MUST(answer.which[i] == place(n, i));
    }
    sw_feed_end(feed, true);
}

/* The other side: takes turns over the feeds, checks, answers. */
typedef struct {
    uint64_t n; /* operations taken */
    uint32_t members, member, base;
    bool over;
    uint32_t *which, given; /* an answer under way */
    sw_op_answer_t answer;
} at_t;

static void check_context(at_t *at, uint32_t rank, const sw_feed_entry_t *e)
{
    if (e->what == SW_ENTRY_CONTEXT) {
        MUST(!at->members && at->n % 5000 == 11);
        MUST(e->told.number == at->n && e->told.id == at->n * at->n);
        MUST(e->told.bytes == 4 * (at->n % 97 + 1));
        at->members = e->told.bytes / 4;
        at->member = 0;
        return;
    }
    MUST(e->what == SW_ENTRY_MORE);
    for (uint32_t i = 0, member; i < e->n; i += 4) {
        memcpy(&member, e->byte + i, 4);
        MUST(member == at->member++ * 3 + rank);
    }
    MUST(at->member <= at->members);
    if (at->member == at->members)
        at->members = 0;
}

static void give(sw_taker_t *taker, at_t *at, uint32_t rank)
{
    uint32_t here = at->answer.count - at->given;
    here = here > SW_FEED_PLACES ? SW_FEED_PLACES : here;
    sw_taker_answer(taker, rank, &at->answer, at->which + at->given, here);
    at->given += here;
    if (at->given == at->answer.count) {
        free(at->which);
        at->which = NULL;
    }
}

/* True: something was done. */
static bool turn(sw_taker_t *taker, at_t *at, uint32_t rank, bool soon,
                 uint64_t count)
{
    if (at->which) {
        if (!sw_taker_read(taker, rank))
            return false;
        give(taker, at, rank);
        return true;
    }
    uint32_t state = sw_taker_state(taker, rank);
    const sw_feed_entry_t *e = sw_taker_look(taker, rank);
    if (!e) {
        if (state != SW_FEED_ENDED_WELL)
            return !sw_taker_arm(taker, rank, soon);
        MUST(at->n == count);
        at->over = true;
        return true;
    }
    if (e->what != SW_ENTRY_OP) {
        check_context(at, rank, e);
    } else {
        const sw_vop_t *op = &e->op, want = nth(rank, at->n);
        MUST(!at->members);
        MUST(op->kind == want.kind && op->flags == want.flags);
        MUST(op->tag == want.tag && op->bytes == want.bytes);
        MUST(op->sent == want.sent && op->time == want.time);
        if (at->n % ASKS == 0) {
            uint32_t length = list_length(at->n / ASKS);
            at->answer = (sw_op_answer_t){.clock = (sw_ps_t)(at->n * 3 + rank),
                                          .bytes = at->n,
                                          .tag = -(int32_t)at->n,
                                          .count = length};
            at->which = malloc((length + 1) * sizeof *at->which);
            for (uint32_t i = 0; i < length; i++)
                at->which[i] = place(at->n, i);
            at->given = 0;
            give(taker, at, rank);
        }
        at->n++;
    }
    sw_taker_take(taker, rank);
    return true;
}

static void nothing(void *of, uint32_t rank)
{
    ++*(uint64_t *)of;
}

static void engine_runs(sw_taker_t *taker, unsigned rest_us, bool soon,
                        uint64_t count)
{
    uint32_t ranks = taker->feeds->ranks, over = 0;
    at_t *at = calloc(ranks, sizeof *at);
    uint64_t state = 5, news = 0, late = 0;
    while (over < ranks) {
        bool did = false;
        sw_taker_news(taker, nothing, &news);
        for (uint32_t r = 0; r < ranks; r++) {
            unsigned most = (unsigned)(random_from(&state) % 500) + 1;
            for (unsigned k = 0; k < most && !at[r].over; k++) {
                if (!turn(taker, &at[r], r, soon, count))
                    break;
                did = true;
                over += at[r].over;
            }
        }
        if (rest_us)
            nap(&state, rest_us);
        /* It may wake up for a doorbell that it has heard already. */
        uint64_t since = sw_os_now();
        if (!did && !sw_taker_sleep(taker, 10000000000u))
            late += sw_os_now() - since > 9000000000u;
    }
    /* A doorbell that is lost would only show as time: ten seconds of it. */
    MUST(!late && news);
    free(at);
}

/* As forked processes. */
static void processes(uint32_t ranks, unsigned rank_rest, unsigned engine_rest,
                      bool soon, uint64_t count)
{
    int fd = sw_feeds_make(ranks);
    MUST(fd >= 0);
    for (uint32_t r = 0; r < ranks; r++)
        if (!fork()) {
            sw_feeds_t *feeds = sw_feeds_map(fd);
            MUST(feeds);
            sw_feed_awake = r == 1;
            rank_runs(feeds, r, rank_rest, count);
            sw_feeds_unmap(feeds);
            _exit(0);
        }
    sw_feeds_t *feeds = sw_feeds_map(fd);
    sw_taker_t taker;
    MUST(feeds && sw_taker_open(&taker, feeds));
    sw_taker_serves(feeds, getpid());
    engine_runs(&taker, engine_rest, soon, count);
    for (uint32_t r = 0; r < ranks; r++) {
        int status;
        MUST(wait(&status) > 0 && status == 0);
    }
    sw_taker_close(&taker);
    sw_feeds_unmap(feeds);
    close(fd);
}

/* As threads, on one mapping, so that a race can be seen (TSan). */
typedef struct {
    sw_feeds_t *feeds;
    uint32_t rank;
    unsigned rest;
} rank_thread_t;

static void *rank_thread(void *argument)
{
    rank_thread_t *t = argument;
    rank_runs(t->feeds, t->rank, t->rest, COUNT);
    return NULL;
}

static void threads(unsigned rank_rest, unsigned engine_rest)
{
    enum { RANKS = 3 };
    int fd = sw_feeds_make(RANKS);
    sw_feeds_t *feeds = sw_feeds_map(fd);
    sw_taker_t taker;
    pthread_t thread[RANKS];
    rank_thread_t of[RANKS];
    MUST(feeds && sw_taker_open(&taker, feeds));
    for (uint32_t r = 0; r < RANKS; r++) {
        of[r] = (rank_thread_t){feeds, r, rank_rest};
        MUST(!pthread_create(&thread[r], NULL, rank_thread, &of[r]));
    }
    sw_taker_serves(feeds, getpid());
    engine_runs(&taker, engine_rest, rank_rest == 0, COUNT);
    for (uint32_t r = 0; r < RANKS; r++)
        pthread_join(thread[r], NULL);
    sw_taker_close(&taker);
    sw_feeds_unmap(feeds);
    close(fd);
}

/* Steps: a rank puts one operation and waits, without the feed, until it is
 * taken. Nothing rings but what the engine has armed, and it sleeps long. */
#define STEPS (SANITIZED ? 6000u : 20000u)

static _Atomic uint32_t step;

static void *steps(void *feeds)
{
    sw_feed_t *feed = sw_feed_begin(feeds, 0);
    uint64_t state = 12345;
    MUST(feed);
    for (uint32_t n = 1; n <= STEPS; n++) {
        for (uint64_t i = random_from(&state) % 64; i; i--)
            sw_os_pause();
        if (n % 100 == 0)
            usleep(100);
        MUST(sw_feed_put(feed, &(sw_vop_t){.kind = SW_OP_COMPUTE}));
        while (atomic_load(&step) < n)
            sw_os_yield();
    }
    return NULL;
}

static void one_at_a_time(void)
{
    int fd = sw_feeds_make(1);
    sw_feeds_t *feeds = sw_feeds_map(fd);
    sw_taker_t taker;
    pthread_t thread;
    uint64_t news = 0, state = 54321;
    MUST(feeds && sw_taker_open(&taker, feeds));
    MUST(!pthread_create(&thread, NULL, steps, feeds));
    while (atomic_load(&step) < STEPS) {
        sw_taker_news(&taker, nothing, &news);
        if (sw_taker_look(&taker, 0)) {
            sw_taker_take(&taker, 0);
            atomic_fetch_add(&step, 1);
            continue;
        }
        /* Let it put between the look and the arming. */
        if (random_from(&state) % 8 == 0)
            usleep(20);
        else if (random_from(&state) % 2)
            sw_os_yield();
        if (sw_taker_arm(&taker, 0, true)) {
            uint64_t since = sw_os_now();
            sw_taker_sleep(&taker, 10000000000u);
            MUST(sw_os_now() - since < 9000000000u);
        }
    }
    pthread_join(thread, NULL);
    MUST(news);
    sw_taker_close(&taker);
    sw_feeds_unmap(feeds);
    close(fd);
}

/* Nothing but operations: full feeds alone wake the engine, and it wakes the
 * rank. */
static void *pours(void *feeds)
{
    sw_feed_t *feed = sw_feed_begin(feeds, 0);
    int stalls = 0;
    for (uint32_t n = 0; n < 50 * SW_FEED_ENTRIES; n++) {
        uint64_t since = sw_os_now();
        MUST(sw_feed_put(feed, &(sw_vop_t){.kind = SW_OP_COMPUTE}));
        count_stall(since, &stalls);
    }
    sw_feed_end(feed, true);
    return NULL;
}

static void poured(void)
{
    int fd = sw_feeds_make(1);
    sw_feeds_t *feeds = sw_feeds_map(fd);
    sw_taker_t taker;
    pthread_t thread;
    uint64_t news = 0, n = 0;
    MUST(feeds && sw_taker_open(&taker, feeds));
    MUST(!pthread_create(&thread, NULL, pours, feeds));
    while (n < 50 * SW_FEED_ENTRIES) {
        sw_taker_news(&taker, nothing, &news);
        while (sw_taker_look(&taker, 0)) {
            sw_taker_take(&taker, 0);
            n++;
        }
        if (n < 50 * SW_FEED_ENTRIES && sw_taker_arm(&taker, 0, false)) {
            uint64_t since = sw_os_now();
            sw_taker_sleep(&taker, 10000000000u);
            MUST(sw_os_now() - since < 9000000000u);
        }
        usleep(3000);
    }
    pthread_join(thread, NULL);
    sw_taker_close(&taker);
    sw_feeds_unmap(feeds);
    close(fd);
}

static void refused(void)
{
    int fd = sw_os_memfd("test");
    MUST(fd >= 0 && !sw_feeds_map(fd) && errno == EINVAL);
    MUST(!sw_os_resize(fd, 1 << 20) && !sw_feeds_map(fd) && errno == EINVAL);
    close(fd);
    MUST(sw_feeds_make(0) == -1 && errno == EINVAL);
    fd = sw_feeds_make(2);
    sw_feeds_t *feeds = sw_feeds_map(fd);
    MUST(feeds && !sw_feed_begin(feeds, 2));
    MUST(sw_feed_begin(feeds, 1) && !sw_feed_begin(feeds, 1));
    sw_feeds_t *again = sw_feeds_map(fd);
    MUST(again && !sw_feed_begin(again, 1));
    MUST(!ftruncate(fd, 4096) && !sw_feeds_map(fd) && errno == EINVAL);
    sw_feeds_unmap(again);
    sw_feeds_unmap(feeds);
    close(fd);
}

int main(void)
{
    alarm(110);
    waited = kept_waiting();
    refused();
    processes(1, 0, 0, true, COUNT);
    processes(3, 0, 200, false, COUNT); /* full rings */
    processes(3, 200, 0, true, COUNT);  /* the engine waits */
    processes(5, 300, 300, false, COUNT / 4);
    processes(70, 0, 0, true, 700); /* two words of news */
    one_at_a_time();
    poured();
    threads(0, 300);
    threads(200, 0);
    threads(0, 0);
    return 0;
}
