/*
 * many_lists.c - thousands of collectives of one communicator are under way at
 * once. A member that pushes all of them pushes the few that can go on, and
 * leaves out those that wait for their turn. Each ends, even one that never
 * began.
 */
#include "lists.h"

#define LISTS 3000
#define DEPTH 16

static sw_arrival_t list[LISTS];

static void push_all(member_t *m)
{
    uint64_t before = atomic_load(&sw_list_pushes);
    sw_lists_push(true);
    uint64_t pushed = atomic_load(&sw_list_pushes) - before;
    if (pushed > DEPTH + 1)
        fail(m, "a push of all lists pushes %d", (int)pushed);
}

static void begin_all(sw_slates_t *s, int count)
{
    for (int i = 0; i < count; i++) {
        sw_arrival_begin(&list[i], s);
        sw_list_set_out(&list[i].list);
    }
}

static void body(member_t *m)
{
    unsigned turns = 0;
    if (!m->ring->team->arena)
        return;
    sw_lists_shared = false;
    sw_slates_t *s = open_slates(m, DEPTH);
    for (int round = 0; round < 3; round++) {
        begin_all(s, LISTS);
        for (int i = 0; i < LISTS; i++) {
            while (!sw_list_is_over(&list[i].list)) {
                push_all(m);
                sw_wait_turn(&turns);
            }
            expect_ok(m, sw_list_end(&list[i].list));
        }
    }
    expect_ok(m, sw_coll_barrier(m->ring));
    sw_slates_close(s);

    /* No other member comes: they are given up in any order. */
    s = open_slates(m, DEPTH);
    if (m->me == 0) {
        begin_all(s, LISTS);
        push_all(m);
        for (int i = 0; i < LISTS; i++)
            sw_list_break(&list[(size_t)i * 7919 % LISTS].list);
        for (int i = 0; i < LISTS; i++)
            if (sw_list_end(&list[i].list) != SW_BROKEN)
                fail(m, "list %d is not broken", i);
        if (sw_lists_push(true))
            fail(m, "a list is left over");
    }
    expect_ok(m, sw_coll_barrier(m->ring));
    sw_slates_close(s);
}

int main(void)
{
    for (int n = 2; n <= 3 && !THREAD_SANITIZED; n++)
        run_forked(n, &ways[0], (uint64_t)n, body);
    return 0;
}
