/*
 * No rank on a feed waits for a dead engine. Ranks that ask, and ranks whose
 * feeds are full, notice that the engine was killed or gave up. Rank 0 says so,
 * by one line on stderr.
 */
#include "must.h"
#include "node/os/os.h"
#include "vtime/feed/taker.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS 3u
#define SECOND 1000000000u

/* Answers until it is killed. */
static void engine(sw_feeds_t *feeds)
{
    sw_taker_t taker;
    MUST(sw_taker_open(&taker, feeds));
    sw_taker_serves(feeds, getpid());
    for (;;)
        for (uint32_t r = 0; r < feeds->ranks; r++) {
            const sw_feed_entry_t *e = sw_taker_look(&taker, r);
            if (!e)
                continue;
            sw_op_answer_t answer = {.clock = e->op.time};
            if (e->op.kind == SW_OP_CLOCK)
                sw_taker_answer(&taker, r, &answer, NULL, 0);
            sw_taker_take(&taker, r);
        }
}

/* Puts, and asks sometimes, until that is refused. */
static void rank(sw_feeds_t *feeds, uint32_t me, uint64_t ask_every)
{
    sw_feed_t *feed = sw_feed_begin(feeds, me);
    MUST(feed);
    sw_op_answer_t answer;
    for (int64_t n = 1;; n++) {
        bool asks = ask_every && (uint64_t)n % ask_every == 0;
        sw_vop_t op = {.kind = asks ? SW_OP_CLOCK : SW_OP_COMPUTE, .time = n};
        if (asks ? !sw_feed_ask(feed, &op, &answer) : !sw_feed_put(feed, &op))
            break;
        MUST(!asks || answer.clock == n);
    }
    for (int i = 0; i < 10000; i++) {
        sw_vop_t op = {.kind = SW_OP_CLOCK};
        MUST(!sw_feed_put(feed, &op) && !sw_feed_ask(feed, &op, &answer));
        MUST(!sw_feed_context(feed, 1, 1, 1, &me));
    }
    sw_feed_end(feed, false);
}

/* Lines that come out of `fd` before all processes have closed it. */
static int lines(int fd)
{
    int n = 0;
    char c;
    while (read(fd, &c, 1) == 1)
        n += c == '\n';
    return n;
}

enum { KILLED, GIVES_UP };

static void dies(int how, uint64_t ask_every, unsigned after_us)
{
    int fd = sw_feeds_make(RANKS), out[2];
    sw_feeds_t *feeds = sw_feeds_map(fd);
    MUST(feeds && !pipe(out));
    pid_t server = fork(), of[RANKS];
    if (!server)
        engine(feeds);
    while (atomic_load(&feeds->head->state) == SW_SERVER_NOT_YET)
        usleep(100);
    for (uint32_t r = 0; r < RANKS; r++) {
        of[r] = fork();
        if (!of[r]) {
            dup2(out[1], STDERR_FILENO);
            close(out[0]);
            rank(feeds, r, ask_every);
            _exit(0);
        }
    }
    close(out[1]);
    usleep(after_us);
    uint64_t since = sw_os_now();
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    if (how == GIVES_UP) {
        sw_taker_t taker;
        MUST(sw_taker_open(&taker, feeds));
        sw_taker_over(&taker);
        sw_taker_close(&taker);
    }
    MUST(lines(out[0]) == 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        int status;
        MUST(waitpid(of[r], &status, 0) == of[r] && status == 0);
    }
    MUST(sw_os_now() - since < (uint64_t)5 * SECOND);
    close(out[0]);
    sw_feeds_unmap(feeds);
    close(fd);
}

/* A watch tells a process from a later one of its number, and from none. */
static void watches(void)
{
    sw_watch_t me, child;
    sw_watch_process(&me, getpid());
    MUST(me.start && !sw_watch_gone(&me));
    me.start++;
    MUST(sw_watch_gone(&me));
    MUST(!sw_watch_gone(&(sw_watch_t){0}));
    pid_t pid = fork();
    if (!pid) {
        pause();
        _exit(0);
    }
    sw_watch_process(&child, pid);
    MUST(!sw_watch_gone(&child));
    kill(pid, SIGKILL);
    while (!sw_watch_gone(&child)) /* a zombie is gone, too */
        usleep(1000);
    waitpid(pid, NULL, 0);
    MUST(sw_watch_gone(&child));
}

int main(void)
{
    alarm(110);
    watches();
    uint64_t state = 99;
    for (int i = 0; i < 4; i++) {
        unsigned after = (unsigned)(random_from(&state) % 20000);
        dies(KILLED, 0, after); /* full feeds */
        dies(KILLED, 7, after);
        dies(GIVES_UP, 0, after);
        dies(GIVES_UP, 3, after);
    }
    return 0;
}
