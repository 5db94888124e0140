/*
 * schedules.c - several collectives are under way at once. Their members begin
 * them in one order, and end them in any. Each member pushes whichever it
 * likes. All results are right, and no schedule waits for another.
 */
#include "schedules.h"

#define AT_ONCE 6

static void push_any(member_t *m, job_t *job, int count)
{
    job_t *j = &job[below(&m->own, count)];
    if (!j->over && sw_schedule_push(j->schedule, true))
        end_any(m, j);
}

static void some(member_t *m, job_t *job, sw_slates_t *s, uint64_t *round)
{
    int count = 1 + below(&m->common, m->n > 9 ? 2 : AT_ONCE), over = 0;
    for (int i = 0; i < count; i++) {
        begin_any(m, &job[i], s, ++*round);
        dawdle(m);
        if (below(&m->own, 2))
            push_any(m, job, i + 1);
    }
    unsigned turns = 0;
    while (over < count) {
        push_any(m, job, count);
        over = 0;
        for (int i = 0; i < count; i++)
            over += job[i].over;
        sw_wait_turn(&turns);
    }
    /* Others may be in this member's memory no more. */
    release_buffers(m);
}

/* The leader has died before it put its notice up. */
static void without_leader(member_t *m)
{
    static _Thread_local sw_arrival_t a;
    if (m->me == 0)
        return;
    sw_slates_t *s = sw_slates_open(m->seq->team, UINT64_MAX, 2);
    sw_arrival_begin(&a, s);
    sw_schedule_set_out(&a.schedule);
    if (sw_schedule_push(&a.schedule, true))
        fail(m, "a schedule is over without its leader");
    sw_schedule_break(&a.schedule);
    if (sw_schedule_end(&a.schedule) != SW_BROKEN)
        fail(m, "a schedule without a leader is not broken");
    sw_slates_close(s);
}

static void body(member_t *m)
{
    static _Thread_local job_t job[AT_ONCE];
    uint64_t round = m->seed << 20;
    _Atomic bool quit = false;
    pthread_t helper;
    if (!m->seq->team->arena)
        return;
    bool helped = below(&m->own, 2) && m->n < 9;
    if (strcmp(m->way, "threads"))
        sw_schedules_shared = helped;
    if (helped && pthread_create(&helper, NULL, help_out, &quit))
        fail(m, "no second thread");
    sw_slates_t *s = open_slates(m, below(&m->common, 2) ? 0 : 2);
    int count = rounds(m->n > 9 ? 10 : 40);
    for (int i = 0; i < count; i++)
        some(m, job, s, &round);
    for (int i = 0; i < AT_ONCE; i++)
        forget(&job[i]);
    without_leader(m);
    expect_ok(m, sw_coll_barrier(m->seq));
    atomic_store(&quit, true);
    if (helped)
        pthread_join(helper, NULL);
    sw_slates_close(s);
}

int main(int argc, char **argv)
{
    sw_schedules_shared = true;
    return run_everywhere(argc, argv, body);
}
