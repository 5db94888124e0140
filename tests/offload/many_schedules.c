/*
 * many_schedules.c - thousands of collectives of one communicator are under way
 * at once. A member that pushes all of them pushes the few that can go on, and
 * leaves out those that wait for their turn. Each ends, even one that never
 * began.
 */
#include "schedules.h"

#define SCHEDULES 3000
#define DEPTH 16

static sw_arrival_t schedule[SCHEDULES];

static void push_all(member_t *m)
{
    uint64_t before = atomic_load(&sw_schedule_pushes);
    sw_schedules_push(true);
    uint64_t pushed = atomic_load(&sw_schedule_pushes) - before;
    if (pushed > DEPTH + 1)
        fail(m, "a push of all schedules pushes %d", (int)pushed);
}

static void begin_all(sw_slates_t *s, int count)
{
    for (int i = 0; i < count; i++) {
        sw_arrival_begin(&schedule[i], s);
        sw_schedule_set_out(&schedule[i].schedule);
    }
}

static void body(member_t *m)
{
    unsigned turns = 0;
    if (!m->seq->team->arena)
        return;
    sw_schedules_shared = false;
    sw_slates_t *s = open_slates(m, DEPTH);
    for (int round = 0; round < 3; round++) {
        begin_all(s, SCHEDULES);
        for (int i = 0; i < SCHEDULES; i++) {
            while (!sw_schedule_is_over(&schedule[i].schedule)) {
                push_all(m);
                sw_wait_turn(&turns);
            }
            expect_ok(m, sw_schedule_end(&schedule[i].schedule));
        }
    }
    expect_ok(m, sw_coll_barrier(m->seq));
    sw_slates_close(s);

    /* No other member comes: they are given up in any order. */
    s = open_slates(m, DEPTH);
    if (m->me == 0) {
        begin_all(s, SCHEDULES);
        push_all(m);
        for (int i = 0; i < SCHEDULES; i++)
            sw_schedule_break(&schedule[(size_t)i * 7919 % SCHEDULES].schedule);
        for (int i = 0; i < SCHEDULES; i++)
            if (sw_schedule_end(&schedule[i].schedule) != SW_BROKEN)
                fail(m, "schedule %d is not broken", i);
        if (sw_schedules_push(true))
            fail(m, "a schedule is left over");
    }
    expect_ok(m, sw_coll_barrier(m->seq));
    sw_slates_close(s);
}

int main(void)
{
    for (int n = 2; n <= 3 && !THREAD_SANITIZED; n++)
        run_forked(n, &ways[0], (uint64_t)n, body);
    return 0;
}
