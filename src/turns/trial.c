/*
 * trial.c - see trial.h.
 */
#include "trial.h"

/* Calls between the first two trials, for each before the first. From then on
 * each such pause is so many times as long as the last one. */
#define SECOND 64u
#define LONGER 4u
#define LONGEST (1u << 20)

/* The host must be faster by so much to take a call over. */
#define MARGIN 0.97

static bool in_trial(const sw_trial_t *t)
{
    return t->calls >= t->begins && t->calls < t->begins + 2 * SW_TRIAL_PAIRS;
}

bool sw_trial_is_due(const sw_trial_t *t)
{
    return t->begins && t->calls == t->begins + 2 * SW_TRIAL_PAIRS;
}

/* Alike on all ranks. */
static int drawn(uint64_t pair)
{
    uint64_t x = (pair + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0xbf58476d1ce4e5b9u;
    return x >> 40 & 1;
}

int sw_trial_call(sw_trial_t *t, uint64_t first, bool *timed)
{
    if (!t->begins) {
        t->begins = sw_max(first, 1);
        t->pause = SECOND * t->begins;
        t->side = SW_SIDE_OURS;
    }
    *timed = in_trial(t);
    uint64_t at = t->calls++ - t->begins;
    t->given = *timed ? drawn(t->begins + at / 2) ^ (int)(at & 1) : t->side;
    return t->given;
}

/* Which of its side's calls in the trial the latest one is. */
static uint64_t pair_of(const sw_trial_t *t)
{
    return (t->calls - 1 - t->begins) / 2;
}

void sw_trial_began(sw_trial_t *t, uint64_t now)
{
    t->stamps.began[t->given][pair_of(t)] = (int64_t)now;
}

void sw_trial_ended(sw_trial_t *t, uint64_t now)
{
    t->stamps.ended[t->given][pair_of(t)] = (int64_t)now;
}

static double median(const sw_stamps_t *of, int side)
{
    int64_t x[SW_TRIAL_PAIRS];
    for (int i = 0; i < SW_TRIAL_PAIRS; i++) {
        int64_t time = of->ended[side][i] - of->began[side][i];
        int j = i;
        for (; j > 0 && x[j - 1] > time; j--)
            x[j] = x[j - 1];
        x[j] = time;
    }
    return (double)(x[SW_TRIAL_PAIRS / 2] + x[SW_TRIAL_PAIRS / 2 - 1]) / 2;
}

void sw_trial_settle(sw_trial_t *t, const sw_stamps_t *latest)
{
    double least = t->side == SW_SIDE_HOST ? 1 : MARGIN;
    bool host = median(latest, SW_SIDE_HOST) <
                least * median(latest, SW_SIDE_OURS);
    t->side = host ? SW_SIDE_HOST : SW_SIDE_OURS;
    t->begins = t->calls + t->pause;
    t->pause = sw_min(LONGER * t->pause, LONGEST);
}
