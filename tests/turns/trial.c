/*
 * Trials: ranks that count alike choose alike, the faster side wins, and a
 * trial costs few calls.
 */
#include "must.h"

#include "turns/trial.h"

enum { RANKS = 3 };

typedef struct {
    double time[2]; /* ns of a call */
    int odd;        /* each such call takes 1 ms more */
    long calls;
} world_t;

/* The side at the end; *host is how many calls the host served. */
static int run(const world_t *w, long *host)
{
    sw_trial_t t[RANKS] = {0};
    uint64_t state = 42, now = 1000;
    *host = 0;
    for (long i = 0; i < w->calls; i++) {
        sw_stamps_t latest = {{{0}}, {{0}}};
        bool due = sw_trial_is_due(&t[0]), timed = false;
        int side = -1;
        for (int r = 0; due && r < RANKS; r++) {
            const int64_t *own = t[r].stamps.began[0];
            int64_t *all = latest.began[0];
            for (int k = 0; k < SW_STAMPS; k++)
                all[k] = own[k] > all[k] ? own[k] : all[k];
        }
        for (int r = 0; r < RANKS; r++) {
            MUST(sw_trial_is_due(&t[r]) == due);
            if (due)
                sw_trial_settle(&t[r], &latest);
            int own = sw_trial_call(&t[r], 64, &timed);
            MUST(r == 0 || own == side);
            side = own;
        }
        *host += side == SW_SIDE_HOST;
        double ns = w->time[side] *
                    (0.9 + (double)(random_from(&state) % 200) / 1000);
        if (w->odd && random_from(&state) % (uint64_t)w->odd == 0)
            ns += 1e6;
        /* Ranks come as they like, and wait for the last. */
        uint64_t came[RANKS], last = 0;
        for (int r = 0; r < RANKS; r++) {
            came[r] = now + random_from(&state) % 100000;
            last = sw_max(last, came[r]);
        }
        now = last + (uint64_t)ns;
        for (int r = 0; timed && r < RANKS; r++) {
            sw_trial_began(&t[r], came[r]);
            sw_trial_ended(&t[r], now - (uint64_t)r);
        }
    }
    return t[0].side;
}

int main(void)
{
    long host;
    MUST(run(&(world_t){{2000, 1000}, 0, 100000}, &host) == SW_SIDE_OURS);
    MUST(host >= SW_TRIAL_PAIRS && host <= 6 * SW_TRIAL_PAIRS);
    MUST(run(&(world_t){{1000, 1500}, 0, 100000}, &host) == SW_SIDE_HOST);
    MUST(host > 95000);
    /* One call in ten is held up. */
    MUST(run(&(world_t){{3000, 1000}, 10, 100000}, &host) == SW_SIDE_OURS);
    MUST(run(&(world_t){{1000, 3000}, 10, 100000}, &host) == SW_SIDE_HOST);
    /* Too few calls for a trial. */
    MUST(run(&(world_t){{1, 3000}, 0, 64}, &host) == SW_SIDE_OURS && !host);
    return 0;
}
