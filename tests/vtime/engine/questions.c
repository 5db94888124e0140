/*
 * What running programs ask the engine: which request is the first, is it
 * complete, is there a message. Links are as in ranks.h: a message of one byte
 * sent at t arrives at t + 111, and its receive is complete at t + 131.
 */
#include "ranks.h"

static ranks_t *begin(uint32_t n)
{
    ranks_t *r = ranks_linked(n);
    r->asks = true;
    return r;
}

static void wait_any(void)
{
    ranks_t *r = begin(3);
    irecv(r, 0, 1, 0, 1);
    irecv(r, 0, 2, 0, 2);
    list(r, 0, 1);
    list(r, 0, 2);
    choose(r, 0, SW_SELECT_ANY); /* that of 2, at 231 */
    put(r, 0, (sw_vop_t){.kind = SW_OP_CLOCK});
    list(r, 0, 1);
    list(r, 0, 2);                /* is over */
    choose(r, 0, SW_SELECT_SOME); /* so there is no wait */
    wait_for(r, 0, 1);
    compute(r, 1, 500);
    send(r, 1, 0, 0, 1);
    compute(r, 2, 100);
    send(r, 2, 0, 0, 1);
    ranks_run(r);
    ENDS(r, 0, 631);
    MUST(answer(r, 0, 0)->found && answer(r, 0, 0)->count == 1);
    MUST(r->rank[0].which[0][0] == 1 && answer(r, 0, 0)->clock == 231);
    MUST(answer(r, 0, 1)->clock == 231);
    MUST(answer(r, 0, 2)->count == 1 && r->rank[0].which[2][0] == 1);
    ranks_free(r);
}

static void wait_some(void)
{
    ranks_t *r = begin(4);
    for (int i = 1; i < 4; i++)
        irecv(r, 0, i, 0, (uint32_t)i);
    compute(r, 0, 300);
    for (uint32_t i = 1; i < 4; i++)
        list(r, 0, i);
    choose(r, 0, SW_SELECT_SOME); /* 3, then 1; in the order of times */
    wait_for(r, 0, 2);
    compute(r, 1, 150); /* there at 261: received until 340 */
    compute(r, 2, 400); /* 531 */
    compute(r, 3, 100); /* there at 211: received until 320 */
    for (uint32_t i = 1; i < 4; i++)
        send(r, i, 0, 0, 1);
    ranks_run(r);
    ENDS(r, 0, 531);
    MUST(answer(r, 0, 0)->count == 2 && answer(r, 0, 0)->clock == 340);
    MUST(r->rank[0].which[0][0] == 2 && r->rank[0].which[0][1] == 0);
    ranks_free(r);
}

/* A loop of tests, 7 ps each; the engine knows how long they find nothing. */
static void tests(void)
{
    ranks_t *r = begin(2);
    r->model.test = 7;
    irecv(r, 0, 1, 0, 1);
    for (int i = 0; i < 20; i++) {
        list(r, 0, 1);
        choose(r, 0, SW_TEST_ALL);
    }
    send(r, 1, 0, 0, 1); /* there at 111 */
    ranks_run(r);
    ENDS(r, 0, 132); /* the test at 112 receives it */
    for (uint32_t i = 0; i < 20; i++) {
        MUST(answer(r, 0, i)->found == (i >= 16));
        MUST(answer(r, 0, i)->clock == (i < 16 ? 7 * (i + 1) : 132));
        MUST(i >= 16 || (answer(r, 0, i)->until >= 7 * i &&
                         answer(r, 0, i)->until <= 111));
    }
    ranks_free(r);

    r = begin(3); /* which are, which is the first? */
    irecv(r, 0, 1, 0, 1);
    irecv(r, 0, 2, 0, 2);
    for (int i = 0; i < 2; i++) {
        list(r, 0, 1);
        list(r, 0, 2);
        choose(r, 0, i ? SW_TEST_SOME : SW_TEST_ANY); /* none at 0 */
        compute(r, 0, 200);
    }
    for (int i = 0; i < 2; i++) {
        list(r, 0, 1);
        list(r, 0, 2);
        choose(r, 0, i ? SW_TEST_SOME : SW_TEST_ANY);
    }
    compute(r, 1, 200); /* 331 */
    send(r, 1, 0, 0, 1);
    compute(r, 2, 150); /* 281 */
    send(r, 2, 0, 0, 1);
    ranks_run(r);
    MUST(!answer(r, 0, 0)->found && !answer(r, 0, 1)->found);
    MUST(answer(r, 0, 2)->count == 1 && r->rank[0].which[2][0] == 1);
    MUST(answer(r, 0, 3)->count == 2); /* the one that was over counts */
    ENDS(r, 0, 440);
    ranks_free(r);

    r = begin(1); /* no rank will ever send */
    irecv(r, 0, 0, 0, 1);
    list(r, 0, 1);
    choose(r, 0, SW_TEST_ALL);
    MUST(ranks_try(r, 0) == SW_ENGINE_DONE);
    MUST(answer(r, 0, 0)->until == SW_PS_NEVER);
    ranks_free(r);
}

static void ask(ranks_t *r, uint32_t rank, unsigned kind, int peer, int tag)
{
    put(r, rank, (sw_vop_t){.kind = (uint8_t)kind, .peer = peer, .tag = tag});
}

static void probes(void)
{
    ranks_t *r = begin(3);
    r->model.test = 5;
    ask(r, 0, SW_OP_IPROBE, SW_OP_ANY, 3);        /* at 0: no; 5 */
    ask(r, 0, SW_OP_PROBE, SW_OP_ANY, SW_OP_ANY); /* of 2, at 211 */
    ask(r, 0, SW_OP_IPROBE, 1, SW_OP_ANY);        /* of 1: no; 216 */
    compute(r, 0, 1000);                          /* 1216 */
    ask(r, 0, SW_OP_IPROBE, 1, 4);                /* 1216 */
    ask(r, 0, SW_OP_CHOOSE, SW_OP_ANY, 4);        /* of 2, the first */
    recv(r, 0, 2, 4);                             /* 1236 */
    ask(r, 0, SW_OP_CHOOSE, SW_OP_ANY, 4);
    recv(r, 0, 1, 4); /* 1256 */
    compute(r, 1, 400);
    send(r, 1, 0, 4, 9);
    compute(r, 2, 100);
    send(r, 2, 0, 4, 1);
    ranks_run(r);
    ENDS(r, 0, 1256);
    MUST(!answer(r, 0, 0)->found && answer(r, 0, 0)->clock == 5);
    MUST(answer(r, 0, 1)->found && answer(r, 0, 1)->peer == 2 &&
         answer(r, 0, 1)->tag == 4 && answer(r, 0, 1)->bytes == 1 &&
         answer(r, 0, 1)->clock == 211);
    MUST(!answer(r, 0, 2)->found && answer(r, 0, 2)->clock == 216 &&
         answer(r, 0, 2)->until > 211 && answer(r, 0, 2)->until <= 519);
    MUST(answer(r, 0, 3)->found && answer(r, 0, 3)->peer == 1 &&
         answer(r, 0, 3)->bytes == 9 && answer(r, 0, 3)->clock == 1216);
    MUST(answer(r, 0, 4)->peer == 2 && answer(r, 0, 5)->peer == 1);
    MUST(r->result.wildcards == 4);
    ranks_free(r);
}

/* No operation waits for a dropped request; it takes its message nevertheless,
 * unless it was cancelled. */
static void dropped(void)
{
    for (unsigned flags = 0; flags <= SW_DROP_CANCELLED; flags++) {
        ranks_t *r = begin(2);
        irecv(r, 0, 1, 0, 1);
        put(r, 0,
            (sw_vop_t){
                .kind = SW_OP_DROP, .request = 1, .flags = (uint16_t)flags});
        isend(r, 0, 1, 0, 5000, 2);
        with_request(r, 0, SW_OP_DROP, 2);
        recv(r, 0, 1, 0);
        send(r, 1, 0, 0, 1);   /* 10; there 111 */
        send(r, 1, 0, 0, 300); /* head 120, there 420 */
        recv(r, 1, 0, 0);
        ranks_run(r);
        ENDS(r, 0, flags ? 131 : 440);
        ranks_free(r);
    }
}

/* Noise is what the model's noise says, and counted apart. */
static void noise(void)
{
    ranks_t *r = begin(2);
    r->model.noise = (sw_noise_t){.period = 1000, .duration = 100, .seed = 3};
    compute(r, 0, 100000);
    compute(r, 1, 100000);
    ranks_run(r);
    MUST(r->result.ranks[0].compute == 100000);
    MUST(r->result.ranks[0].noise > 0 && r->result.ranks[0].noise % 100 == 0);
    MUST(r->result.ranks[0].noise != r->result.ranks[1].noise ||
         r->result.ranks[0].noise > 5000);
    ranks_free(r);
}

int main(void)
{
    wait_any();
    wait_some();
    tests();
    probes();
    dropped();
    noise();
    return 0;
}
