/*
 * Ranks with threads: each thread has a clock of its own, and the engine
 * matches messages in the order of the calls. Links are as in ranks.h: an empty
 * message sent at t arrives at t + 110, and its receive is complete at t + 130.
 */
#include "ranks.h"

static void thread_op(ranks_t *r, uint32_t rank, unsigned what, uint32_t number,
                      int before)
{
    put(r, rank,
        (sw_vop_t){.kind = SW_OP_THREAD,
                   .what = (uint8_t)what,
                   .request = number,
                   .tag = before});
}

#define thread(r, rank, number) thread_op(r, rank, SW_THREAD_GOES, number, 0)
#define after(r, rank, number, before) \
    thread_op(r, rank, SW_THREAD_AFTER, number, before)

static void matched(ranks_t *r, uint32_t rank, int peer, int tag,
                    uint32_t request)
{
    put(r, rank,
        (sw_vop_t){.kind = SW_OP_MATCHED,
                   .peer = peer,
                   .tag = tag,
                   .request = request});
}

static sw_engine_state_t end_of(ranks_t *r, sw_ps_t *end)
{
    sw_engine_state_t state = SW_ENGINE_DONE;
    *end = -1;
    for (uint64_t seed = 0; seed < 20; seed++) {
        state = ranks_try(r, seed);
        MUST(*end < 0 || *end == r->result.end);
        *end = r->result.end;
    }
    return state;
}

/* Thread 0 waits for what rank 1 sends only when it has heard of thread 1. */
static void nobody_is_in_anothers_way(void)
{
    sw_ps_t end;
    ranks_t *r = ranks_linked(2);
    thread(r, 0, 0);
    recv(r, 0, 1, 1);
    thread(r, 0, 1);
    compute(r, 0, 1000);
    send(r, 0, 1, 2, 0);
    recv(r, 1, 0, 2);
    send(r, 1, 0, 1, 0);
    MUST(end_of(r, &end) == SW_ENGINE_DONE && end == 1000 + 2 * 130);
    MUST(r->result.forced == 0);
    ranks_free(r);
}

/* What was posted first takes the first message, though its thread comes to it
 * later. */
static void matching_is_in_the_order_of_calls(void)
{
    sw_ps_t end;
    ranks_t *r = ranks_linked(2);
    thread(r, 0, 0);
    compute(r, 0, 50000);
    recv(r, 0, 1, SW_OP_ANY);
    thread(r, 0, 1);
    recv(r, 0, 1, SW_OP_ANY);
    recv(r, 0, 1, 9);
    send(r, 1, 0, 7, 0);
    compute(r, 1, 1000);
    send(r, 1, 0, 8, 0);
    send(r, 1, 0, 9, 0);
    /* Thread 1's first has the second message; all is over at 50020. */
    MUST(end_of(r, &end) == SW_ENGINE_DONE && end == 50020);
    ranks_free(r);
}

/* A thread that has slept goes on when the other has come to its place: behind
 * all of it, or before the call that it is in. */
static void threads_wait_for_each_other(int before, sw_ps_t expected)
{
    sw_ps_t end;
    ranks_t *r = ranks_linked(2);
    thread(r, 0, 0);
    compute(r, 0, 700);
    recv(r, 0, 1, 1);
    thread(r, 0, 1);
    after(r, 0, 0, before);
    send(r, 0, 1, 3, 0);
    send(r, 1, 0, 1, 0);
    recv(r, 1, 0, 3);
    compute(r, 1, 5000);
    MUST(end_of(r, &end) == SW_ENGINE_DONE && end == expected);
    MUST(r->result.forced == 0);
    ranks_free(r);
}

/* In virtual time it would have to wait for itself: then it need not. */
static void a_thread_waits_for_no_other_for_ever(void)
{
    sw_ps_t end;
    ranks_t *r = ranks_linked(2);
    thread(r, 0, 0);
    recv(r, 0, 1, 1);
    thread(r, 0, 1);
    after(r, 0, 0, 0);
    send(r, 0, 1, 3, 0);
    recv(r, 1, 0, 3);
    send(r, 1, 0, 1, 0);
    MUST(end_of(r, &end) == SW_ENGINE_DONE && end == 2 * 130);
    MUST(r->result.forced == 1);
    ranks_free(r);
}

/* Another request may have a number as soon as the wait for it was put. A
 * receive from any source has the message that the host gave it. */
static void numbers_are_used_again(void)
{
    sw_ps_t end;
    ranks_t *r = ranks_linked(2);
    thread(r, 0, 0);
    irecv(r, 0, SW_OP_ANY, SW_OP_ANY, 1);
    wait_for(r, 0, 1);
    matched(r, 0, 1, 6, 1);
    thread(r, 0, 1);
    irecv(r, 0, 1, 5, 1);
    wait_for(r, 0, 1);
    thread(r, 0, 0);
    irecv(r, 0, 1, 4, 1);
    wait_for(r, 0, 1);
    send(r, 1, 0, 5, 0);
    compute(r, 1, 1000);
    send(r, 1, 0, 6, 0);
    compute(r, 1, 1000);
    send(r, 1, 0, 4, 0);
    MUST(end_of(r, &end) == SW_ENGINE_DONE && end == 2020 + 130);
    ranks_free(r);
}

/* A file may use the number of a receive again that waits, and not say which
 * message that took: the thread that waits still has it. */
static void numbers_are_used_again_too_early(void)
{
    sw_ps_t end;
    ranks_t *r = ranks_linked(2);
    thread(r, 0, 1);
    compute(r, 0, 1); /* and then it looks for its next operation */
    for (int i = 0; i < 20; i++) {
        thread(r, 0, 0);
        irecv(r, 0, SW_OP_ANY, 0, 1);
        wait_for(r, 0, 1);
        compute(r, 1, 1000);
        send(r, 1, 0, 0, 8);
    }
    thread(r, 0, 1);
    compute(r, 0, 1);
    MUST(end_of(r, &end) == SW_ENGINE_DONE);
    ranks_free(r);
}

static void deadlocks_and_nonsense(void)
{
    sw_ps_t end;
    ranks_t *r = ranks_linked(2);
    thread(r, 0, 0);
    recv(r, 0, 1, 1);
    thread(r, 0, 1);
    recv(r, 0, 1, 2);
    MUST(end_of(r, &end) == SW_ENGINE_DEADLOCK);
    char text[80];
    sw_engine_stuck(r->engine, 0, text, sizeof text);
    MUST(!strcmp(text, "receive from 1, tag 1") ||
         !strcmp(text, "receive from 1, tag 2"));
    ranks_free(r);

    r = ranks_linked(2);
    compute(r, 0, 10);
    thread(r, 0, 1); /* too late to say so */
    MUST(ranks_try(r, 0) == SW_ENGINE_WRONG);
    ranks_free(r);
}

int main(void)
{
    nobody_is_in_anothers_way();
    matching_is_in_the_order_of_calls();
    threads_wait_for_each_other(0, 720 + 130 + 5000);
    threads_wait_for_each_other(1, 700 + 130 + 5000);
    a_thread_waits_for_no_other_for_ever();
    numbers_are_used_again();
    numbers_are_used_again_too_early();
    deadlocks_and_nonsense();
    return 0;
}
