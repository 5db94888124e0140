/*
 * bells.c - a member sleeps for a collective under way. Each member that posts
 * its part wakes the sleeper, and so does each that leaves.
 */
#include "schedules.h"

static uint32_t rings(const sw_slates_t *s)
{
    return atomic_load(&s->bell->event);
}

static void wait_for(member_t *m, sw_schedule_t *s)
{
    sw_wait_t wait = {.doorbell = s->on->bell};
    while (!sw_schedule_push(s, true))
        sw_wait_step(&wait);
    sw_wait_end(&wait);
    expect_ok(m, sw_schedule_end(s));
}

/* The last member posts, and says whether it has rung for a sleeper. */
static void rings_for_a_post(member_t *m, sw_slates_t *s, bool sleeper)
{
    sw_arrival_t a = {0};
    int last = m->seq->team->n - 1;
    if (m->me == 0 && sleeper)
        atomic_fetch_add(&s->bell->sleepers, 1);
    expect_ok(m, sw_coll_barrier(m->seq));
    if (m->me == last) {
        uint32_t before = rings(s);
        sw_arrival_begin(&a, s);
        if ((rings(s) != before) != sleeper)
            fail(m, "a post rings %d times", (int)(rings(s) - before));
    }
    expect_ok(m, sw_coll_barrier(m->seq));
    if (m->me == 0 && sleeper)
        atomic_fetch_sub(&s->bell->sleepers, 1);
    if (m->me != last)
        sw_arrival_begin(&a, s);
    sw_schedule_set_out(&a.schedule);
    wait_for(m, &a.schedule);
}

static void rings_for_a_leaver(member_t *m, sw_slates_t *s)
{
    sw_arrival_t a = {0};
    sw_arrival_begin(&a, s);
    expect_ok(m, sw_coll_barrier(m->seq));
    if (m->me == 0) {
        atomic_fetch_add(&s->bell->sleepers, 1);
        uint32_t before = rings(s);
        while (!sw_schedule_push(&a.schedule, true))
            sw_os_yield();
        if (rings(s) == before)
            fail(m, "a member has left, and has not rung");
        atomic_fetch_sub(&s->bell->sleepers, 1);
    }
    wait_for(m, &a.schedule);
}

/* Each sleeps at once, and all get on. */
static void answers(member_t *m, sw_slates_t *s)
{
    sw_wait_crowd(8);
    for (int i = 0; i < 300; i++) {
        sw_arrival_t a = {0};
        if (below(&m->own, 4) == 0)
            usleep(300);
        sw_arrival_begin(&a, s);
        sw_schedule_set_out(&a.schedule);
        wait_for(m, &a.schedule);
    }
    sw_wait_crowd(1);
}

static void body(member_t *m)
{
    if (!m->seq->team->arena)
        return;
    sw_slates_t *s = open_slates(m, 2);
    while (!sw_slates_found(s))
        sw_os_yield();
    if (rings(s))
        fail(m, "the doorbell of a new block has rung");
    for (int i = 0; i < 4; i++) {
        rings_for_a_post(m, s, i % 2);
        rings_for_a_leaver(m, s);
    }
    answers(m, s);
    expect_ok(m, sw_coll_barrier(m->seq));
    sw_slates_close(s);
}

int main(void)
{
    for (int n = 2; n <= 3; n++)
        run_forked(n, &ways[0], (uint64_t)n, body);
    return 0;
}
