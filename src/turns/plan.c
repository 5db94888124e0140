/*
 * plan.c - see plan.h.
 */
#include "plan.h"

#include <string.h>

#define EPOCHS 2000u /* in the time so far */
#define LONGEST 8u   /* times what was planned */
#define MOST_PERIODS 1e9

/* Learning: from so many calls and shortest epochs on; without a period, up to
 * these. */
#define LEARN_CALLS 4u
#define LEARN_EPOCHS 5u
#define MOST_CALLS 64u
#define MOST_EPOCHS 40u

/* So many meetings in an epoch's time, while rank 0 learns. */
#define MEETINGS 10u

/* Calls between two meetings, at most: a program may become slower by far. */
#define MOST_APART 16384u

/* Where an epoch cannot end, it goes on for some periods, then call by call. */
#define PERIODS_MORE 3u
#define CALLS_MORE 512u

void sw_plan_start(sw_plan_t *p, uint64_t seed, int messages, uint64_t shortest)
{
    memset(p, 0, sizeof *p);
    p->shortest = shortest;
    p->random = seed;
    p->messages = messages;
    p->now = (sw_epoch_t){
        .learns = true, .pair = SW_NO_PAIR, .side = SW_SIDE_OURS};
}

void sw_plan_call(sw_plan_t *p, uint32_t call, uint64_t now)
{
    sw_calls_add(&p->calls, call);
    if (sw_likely(p->began))
        return;
    p->began = p->now.began = now;
    p->now.first = p->calls.count;
    p->now.call = call;
}

static bool drawn(sw_plan_t *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return p->random >> 40 & 1;
}

static uint64_t unit(const sw_plan_t *p)
{
    return p->period ? p->period : 1;
}

static uint64_t length(const sw_plan_t *p, uint64_t now)
{
    uint64_t part = (now - p->began) / EPOCHS;
    return part > p->shortest ? part : p->shortest;
}

/* The first epoch of a pair: whole periods. */
static void begin_pair(sw_plan_t *p, uint64_t now)
{
    double each = p->call_time * (double)unit(p), periods = MOST_PERIODS;
    if ((double)length(p, now) < periods * each)
        periods = (double)length(p, now) / each;
    p->next = (sw_epoch_t){.pair = p->pairs,
                           .side = drawn(p) ? SW_SIDE_OURS : SW_SIDE_HOST,
                           .planned = ((uint64_t)periods + 1) * unit(p)};
}

static bool has_learnt(sw_plan_t *p, uint64_t now)
{
    uint64_t time = now - p->began, count = p->calls.count;
    if (count < LEARN_CALLS || time < LEARN_EPOCHS * p->shortest)
        return false;
    p->period = sw_period(&p->calls);
    return p->period ||
           (count >= MOST_CALLS && time >= MOST_EPOCHS * p->shortest);
}

static void learn(sw_plan_t *p, sw_wish_t *w, uint64_t calls, uint64_t now)
{
    w->ends = calls > 0;
    w->flags = SW_EPOCH_LEARNS;
    p->next = p->now;
    bool rare = now - p->now.began >= p->shortest / MEETINGS;
    p->next.planned = rare ? calls : 2 * calls;
    if (w->ends && (p->tries || has_learnt(p, now)))
        begin_pair(p, now);
}

static void turn(sw_plan_t *p, sw_wish_t *w, uint64_t calls, uint64_t now)
{
    bool whole = calls % unit(p) == 0;
    bool even = p->period && whole &&
                sw_calls_last(&p->calls, 0) == p->now.call;
    w->flags = even ? 0 : SW_EPOCH_UNEVEN;
    w->ends = p->tries ||
              (whole && (calls >= p->now.planned ||
                         now - p->now.began > LONGEST * length(p, now)));
    if (!w->ends)
        return;
    if (p->now.second) {
        if (!even)
            p->period = sw_period(&p->calls);
        begin_pair(p, now);
        return;
    }
    p->next = p->now;
    p->next.second = true;
    p->next.side = !p->now.side;
    p->next.planned = calls;
}

/* Calls to the next meeting of an epoch that has had so many, and that could
 * not end (`kept`). */
static int64_t to_meeting(const sw_plan_t *p, const sw_epoch_t *e, bool kept,
                          uint64_t calls)
{
    uint64_t left = unit(p) - calls % unit(p);
    if (kept)
        left = p->found && p->tries < PERIODS_MORE ? unit(p) : 1;
    else if (calls < e->planned)
        left = e->planned - calls;
    return (int64_t)(left < MOST_APART ? left : MOST_APART);
}

sw_wish_t sw_plan_wish(sw_plan_t *p, uint64_t now)
{
    sw_wish_t w = {.pair = p->now.pair, .messages = p->messages};
    uint64_t calls = p->calls.count - p->now.first;
    if (calls)
        p->call_time = (double)(now - p->now.began) / (double)calls;
    (p->now.learns ? learn : turn)(p, &w, calls, now);
    w.side = w.ends ? p->next.side : p->now.side;
    w.next = to_meeting(p, &p->next, false, 0);
    w.again = to_meeting(p, &p->now, w.ends, calls);
    return w;
}

/* Messages keep their side from here on, our own as soon as they can. */
static void give_up_messages(sw_plan_t *p)
{
    p->messages = p->now.side == SW_SIDE_HOST ? SW_MESSAGES_HOME
                                              : SW_MESSAGES_STAY;
}

void sw_plan_met(sw_plan_t *p, sw_met_t met, uint64_t now)
{
    p->found |= met.quiet;
    if (p->messages == SW_MESSAGES_HOME && met.quiet)
        p->messages = SW_MESSAGES_STAY;
    if (met.ended) {
        p->pairs += p->now.second;
        p->now = p->next;
        p->now.pair = p->now.learns ? SW_NO_PAIR : p->pairs;
        p->now.first = p->calls.count;
        p->now.call = sw_calls_last(&p->calls, 0);
        p->now.began = now;
        p->tries = 0;
    } else if (met.refused && (met.never || ++p->tries > CALLS_MORE)) {
        give_up_messages(p);
        p->tries = 0;
    }
}
