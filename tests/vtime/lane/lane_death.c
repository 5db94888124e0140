/*
 * No rank on a lane waits for a dead engine. Ranks that ask, and ranks whose
 * lanes are full, notice that the engine was killed or gave up. Rank 0 says so,
 * by one line on stderr.
 */
#include "must.h"
#include "node/os/os.h"
#include "vtime/lane/taker.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS 3u
#define SECOND 1000000000u

/* Answers until it is killed. */
static void engine(sw_lanes_t *lanes)
{
    sw_taker_t taker;
    MUST(sw_taker_open(&taker, lanes));
    sw_taker_serves(lanes, getpid());
    for (;;)
        for (uint32_t r = 0; r < lanes->ranks; r++) {
            const sw_lane_entry_t *e = sw_taker_look(&taker, r);
            if (!e)
                continue;
            sw_op_answer_t answer = {.clock = e->op.time};
            if (e->op.kind == SW_OP_CLOCK)
                sw_taker_answer(&taker, r, &answer, NULL, 0);
            sw_taker_take(&taker, r);
        }
}

/* Puts, and asks sometimes, until that is refused. */
static void rank(sw_lanes_t *lanes, uint32_t me, uint64_t ask_every)
{
    sw_lane_t *lane = sw_lane_begin(lanes, me);
    MUST(lane);
    sw_op_answer_t answer;
    for (int64_t n = 1;; n++) {
        bool asks = ask_every && (uint64_t)n % ask_every == 0;
        sw_vop_t op = {.kind = asks ? SW_OP_CLOCK : SW_OP_COMPUTE, .time = n};
        if (asks ? !sw_lane_ask(lane, &op, &answer) : !sw_lane_put(lane, &op))
            break;
        MUST(!asks || answer.clock == n);
    }
    for (int i = 0; i < 10000; i++) {
        sw_vop_t op = {.kind = SW_OP_CLOCK};
        MUST(!sw_lane_put(lane, &op) && !sw_lane_ask(lane, &op, &answer));
        MUST(!sw_lane_context(lane, 1, 1, 1, &me));
    }
    sw_lane_end(lane, false);
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
    int fd = sw_lanes_make(RANKS), out[2];
    sw_lanes_t *lanes = sw_lanes_map(fd);
    MUST(lanes && !pipe(out));
    pid_t server = fork(), of[RANKS];
    if (!server)
        engine(lanes);
    while (atomic_load(&lanes->head->state) == SW_SERVER_NOT_YET)
        usleep(100);
    for (uint32_t r = 0; r < RANKS; r++) {
        of[r] = fork();
        if (!of[r]) {
            dup2(out[1], STDERR_FILENO);
            close(out[0]);
            rank(lanes, r, ask_every);
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
        MUST(sw_taker_open(&taker, lanes));
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
    sw_lanes_unmap(lanes);
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
    while (!sw_watch_gone(&child))      /* a zombie is gone, too */
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
        dies(KILLED, 0, after);         /* full lanes */
        dies(KILLED, 7, after);
        dies(GIVES_UP, 0, after);
        dies(GIVES_UP, 3, after);
    }
    return 0;
}
