/*
 * Rank 0's plan, for programs that are made up: epochs of whole periods, in
 * pairs, whose messages are at rest where the sides change.
 */
#include "must.h"

#include <string.h>

#include "turns/plan.h"

#define MS 1000000u
#define MEETING 5000 /* ns */
#define MOST 100000

/* A program: the calls of its steps, the time of a call, and where in a step no
 * message is under way. */
typedef struct {
    const char *setup, *step;
    uint64_t (*time)(uint64_t step, int side);
    int quiet; /* a place in the step; -1: none, 64: each */
    bool never;
} program_t;

typedef struct {
    sw_wish_t wish;
    uint64_t time, calls;
    uint32_t call; /* at which it ended */
} ended_t;

typedef struct {
    sw_plan_t plan;
    ended_t ended[MOST];
    int epochs, meetings, messages_side;
    uint64_t now, left; /* calls to the next meeting */
} run_t;

/* What all ranks do at a meeting. */
static void meet(run_t *r, const program_t *p, bool quiet, uint32_t call)
{
    sw_plan_t *plan = &r->plan;
    uint64_t calls = plan->calls.count - plan->now.first;
    uint64_t time = r->now - plan->now.began;
    sw_wish_t w = sw_plan_wish(plan, r->now);
    r->meetings++;
    MUST(w.next >= 1 && w.again >= 1);
    sw_met_t met = {.quiet = quiet && !p->never, .never = p->never};
    met.refused = w.ends && w.messages == SW_MESSAGES_TURN &&
                  w.side != plan->now.side && !quiet;
    met.ended = w.ends && !met.refused;
    if (met.ended) {
        MUST(r->epochs < MOST);
        r->ended[r->epochs++] = (ended_t){w, time, calls, call};
    }
    if (w.messages == SW_MESSAGES_HOME && quiet)
        r->messages_side = SW_SIDE_OURS;
    if (w.messages == SW_MESSAGES_TURN && met.ended)
        r->messages_side = (int)w.side;
    r->now += MEETING;
    sw_plan_met(plan, met, r->now);
    r->left = (uint64_t)(met.ended ? w.next : w.again);
}

static run_t *run(const program_t *p, uint64_t steps)
{
    run_t *r = calloc(1, sizeof *r);
    uint64_t step = 0;
    const char *at = p->setup;
    r->messages_side = SW_SIDE_OURS;
    r->now = 1000;
    r->left = 1;
    sw_plan_start(&r->plan, 88172645463325252u, SW_MESSAGES_TURN, 50 * MS);
    while (step < steps) {
        if (!*at) {
            at = p->step;
            step++;
        }
        uint32_t call = (uint32_t)*at;
        bool quiet = p->quiet == 64 || (step && at - p->step == p->quiet);
        sw_plan_call(&r->plan, call, r->now);
        if (!--r->left)
            meet(r, p, quiet, call);
        r->now += p->time(step, r->plan.now.side);
        at++;
    }
    return r;
}

static uint64_t ms(uint64_t step, int side)
{
    (void)step;
    return side == SW_SIDE_OURS ? MS : MS + MS / 10;
}

static uint64_t quick(uint64_t step, int side)
{
    (void)step, (void)side;
    return 300;
}

static uint64_t seconds(uint64_t step, int side)
{
    (void)step, (void)side;
    return 2000u * MS;
}

/* Ten thousand quick steps, then slow ones. */
static uint64_t slower(uint64_t step, int side)
{
    (void)side;
    return step < 1000000 ? 300 : 100 * MS;
}

/* Pairs have both sides, as many calls, and whole periods where a period
 * begins. Returns how many there are. */
static int check(const run_t *r, uint32_t period, bool even)
{
    int pairs = 0, first[2] = {0, 0};
    for (int i = 0; i + 1 < r->epochs; i++) {
        const ended_t *a = &r->ended[i], *b = &r->ended[i + 1];
        if (a->wish.flags & SW_EPOCH_LEARNS) {
            MUST(a->wish.pair == SW_NO_PAIR && !pairs);
            continue;
        }
        if (a->wish.pair != b->wish.pair)
            continue;
        pairs++;
        MUST(a->calls == b->calls || r->plan.messages != SW_MESSAGES_STAY);
        MUST(a->time >= 45 * MS);
        MUST(a->calls % period == 0 || !even);
        MUST(!even || !(a->wish.flags & SW_EPOCH_UNEVEN));
        MUST(!even || a->call == b->call);
        first[a->wish.side != SW_SIDE_OURS]++;
    }
    /* each order is drawn as often */
    MUST(pairs < 100 || (first[0] > pairs / 4 && first[1] > pairs / 4));
    return pairs;
}

static void periods(void)
{
    sw_calls_t c = {0};
    MUST(sw_period(&c) == 0);
    for (int i = 0; i < 2; i++)
        sw_calls_add(&c, 7);
    MUST(sw_period(&c) == 0); /* twice is not enough */
    sw_calls_add(&c, 7);
    MUST(sw_period(&c) == 1);
    for (int i = 0; i < 10000; i++)
        sw_calls_add(&c, (uint32_t)(i % 9 == 0 ? 1 : i % 3));
    MUST(sw_period(&c) == 9);
    memset(&c, 0, sizeof c);
    for (uint32_t i = 0; i < 50; i++)
        sw_calls_add(&c, i); /* a setup */
    for (uint32_t i = 0; i < 60; i++)
        sw_calls_add(&c, i % 5);
    MUST(sw_period(&c) == 5);
    memset(&c, 0, sizeof c);
    for (uint32_t i = 0, inner = 3; i < 4000; i++, inner = inner * 7 % 11)
        for (uint32_t k = 0; k < inner; k++)
            sw_calls_add(&c, k ? 2 : 1); /* 10 numbers in a circle */
    MUST(sw_period(&c) == 55);
    uint64_t state = 9;
    for (int i = 0; i < 5000; i++)
        sw_calls_add(&c, (uint32_t)random_from(&state) % 4);
    MUST(sw_period(&c) == 0);
}

int main(void)
{
    run_t *r;
    periods();
    r = run(&(program_t){"sssttts", "abcab", ms, 64, false}, 4000);
    MUST(check(r, 5, true) > 150 && r->plan.period == 5);
    free(r);
    /* Messages are at rest in one place only. */
    r = run(&(program_t){"", "abcde", ms, 3, false}, 4000);
    MUST(check(r, 5, false) > 100 && r->plan.messages == SW_MESSAGES_TURN);
    for (int i = 1; i < r->epochs; i++)
        if (r->ended[i].wish.pair >= 0 &&
            r->ended[i].wish.side != r->ended[i - 1].wish.side)
            MUST(r->ended[i - 1].call == 'd' || r->ended[i].call == 'd');
    free(r);
    /* Never: they stay, and collectives take turns. */
    r = run(&(program_t){"", "abcde", ms, -1, false}, 4000);
    MUST(check(r, 5, true) > 100 && r->plan.messages == SW_MESSAGES_STAY);
    MUST(r->messages_side == SW_SIDE_OURS);
    free(r);
    r = run(&(program_t){"", "abcde", ms, -1, true}, 400);
    MUST(check(r, 5, true) > 10 && r->plan.messages == SW_MESSAGES_STAY);
    free(r);
    /* Quick calls: meetings cost a thousandth. */
    r = run(&(program_t){"", "aab", quick, 64, false}, 4000000);
    MUST(check(r, 3, true) > 10);
    MUST((uint64_t)r->meetings * MEETING < r->now / 200);
    free(r);
    /* A step of some seconds. */
    r = run(&(program_t){"", "ab", seconds, 64, false}, 100);
    MUST(check(r, 2, true) > 40);
    free(r);
    r = run(&(program_t){"", "a", slower, 64, false}, 1100000);
    MUST(check(r, 1, true) > 10);
    free(r);
    /* Over before anything is learnt. */
    r = run(&(program_t){"", "a", ms, 64, false}, 1);
    MUST(!r->epochs);
    free(r);
    return 0;
}
