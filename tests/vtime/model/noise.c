/*
 * Noise takes the part of a computation that it should, the same in whatever
 * way the ranks come, and nothing of what a rank waits.
 */
#include "must.h"

#include "vtime/model/noise.h"

#include <math.h>

static const sw_ps_t us = 1000 * SW_PS_PER_NS;

static void test_none(void)
{
    sw_noise_t never[] = {{0, 5 * us, 1}, {10 * us, 0, 1}};
    for (int i = 0; i < 2; i++) {
        sw_noise_at_t at;
        sw_noise_begin(&never[i], 3, &at);
        MUST(sw_noise_end(&never[i], 3, &at, 5, 1000000 * us) ==
             1000000 * us + 5);
    }
}

/* Computing without a wait loses duration / period of its time. */
static void test_share(void)
{
    sw_noise_t noise = {100 * us, 20 * us, 42};
    sw_noise_at_t at;
    sw_noise_begin(&noise, 0, &at);
    sw_ps_t time = 10000000 * us, end = sw_noise_end(&noise, 0, &at, 0, time);
    double lost = (double)(end - time) / (double)end;
    MUST(fabs(lost - 0.2) < 0.002);
    MUST((end - time) % noise.duration == 0);
    /* In pieces it is the same, to the ps. */
    sw_noise_begin(&noise, 0, &at);
    sw_ps_t now = 0;
    for (int i = 0; i < 1000000; i++)
        now = sw_noise_end(&noise, 0, &at, now, 10 * us);
    MUST(now == end);
}

/* Exponential gaps: their mean is their deviation, and e of them one in
 * exp(-1) longer than the mean. */
static void test_gaps(void)
{
    sw_noise_t noise = {11 * us, 1 * us, 7};
    double sum = 0, squares = 0;
    int longer = 0, n = 200000;
    for (int i = 0; i < n; i++) {
        sw_noise_at_t at;
        sw_noise_begin(&noise, (uint32_t)i, &at);
        double gap = (double)at.next / (double)(10 * us);
        sum += gap, squares += gap * gap, longer += gap > 1;
    }
    MUST(fabs(sum / n - 1) < 0.01 && fabs(squares / n - 2) < 0.06);
    MUST(fabs((double)longer / n - exp(-1)) < 0.005);
}

/* By hand: one interruption that falls in, at its end exactly, before it. */
static void test_where_it_falls(void)
{
    sw_noise_t noise = {1000 * us, 10 * us, 5};
    sw_noise_at_t at, copy;
    sw_noise_begin(&noise, 9, &at);
    sw_ps_t first = at.next;
    MUST(first > 0);
    copy = at; /* over just when it begins: nothing yet */
    MUST(sw_noise_end(&noise, 9, &copy, 0, first) == first);
    MUST(copy.next == first && copy.number == at.number);
    copy = at; /* a ps later: it falls in */
    sw_ps_t end = sw_noise_end(&noise, 9, &copy, 0, first + 1);
    MUST(end == first + 1 + noise.duration && copy.number == at.number + 1);
    copy = at; /* it falls into a wait: a gap from there on */
    sw_ps_t from = first + 1;
    end = sw_noise_end(&noise, 9, &copy, from, 0);
    MUST(end == from);
    end = sw_noise_end(&noise, 9, &copy, from, 1);
    MUST(copy.number == at.number + 1 && copy.next >= from);
    copy = at; /* a long wait costs one number, not one for each gap */
    sw_noise_end(&noise, 9, &copy, (sw_ps_t)1 << 55, 1);
    MUST(copy.number <= at.number + 2);
}

static void test_seed_and_rank_make_it(void)
{
    sw_noise_t noise = {50 * us, 5 * us, 1}, other = {50 * us, 5 * us, 2};
    sw_noise_at_t a, b, c;
    sw_noise_begin(&noise, 1, &a);
    sw_noise_begin(&noise, 2, &b);
    sw_noise_begin(&other, 1, &c);
    MUST(a.next != b.next && a.next != c.next && b.next != c.next);
    sw_noise_end(&noise, 2, &b, 0, 1000 * us);
    sw_noise_begin(&noise, 1, &c);
    MUST(a.next == c.next);
    MUST(sw_noise_end(&noise, 1, &a, 0, 777 * us) ==
         sw_noise_end(&noise, 1, &c, 0, 777 * us));
}

int main(void)
{
    test_none();
    test_share();
    test_gaps();
    test_where_it_falls();
    test_seed_and_rank_make_it();
    return 0;
}
