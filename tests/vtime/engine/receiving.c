/*
 * A rank's processor receives one message at a time, while its rank waits.
 * Against times by hand; o = 10, o' = 20, L = 100, g = 5, G = 1 (ranks.h). Of
 * two messages of a byte that are sent at 0, one is there at 111, one at 112.
 */
#include "ranks.h"

/* Rank 0 has two receives, which the others send for. */
static ranks_t *two(uint32_t n)
{
    ranks_t *r = ranks_linked(n);
    irecv(r, 0, 1, 0, 1);
    irecv(r, 0, 2, 0, 2);
    return r;
}

static void sent(ranks_t *r)
{
    send(r, 1, 0, 0, 1);
    send(r, 2, 0, 0, 1);
}

/* 111 to 131, and then to 151, whichever the rank waits for first. */
static void one_after_the_other(void)
{
    for (uint32_t first = 1; first <= 2; first++) {
        ranks_t *r = two(3);
        wait_for(r, 0, first);
        wait_for(r, 0, 3 - first);
        sent(r);
        ranks_run(r);
        ENDS(r, 0, 151);
        ranks_free(r);
    }
}

/* LogGOPSim's: L = 2500, o = 1500, g = 1000 ns. */
static void as_loggopsim(void)
{
    ranks_t *r = two(3);
    for (int i = 0; i < SW_CLASS_COUNT; i++)
        r->model.links[i] = (sw_model_link_t){.o_send = 1500000,
                                              .o_recv = 1500000,
                                              .L = 2500000,
                                              .g = 1000000,
                                              .S = UINT64_MAX};
    wait_for(r, 0, 1);
    wait_for(r, 0, 2);
    sent(r);
    ranks_run(r);
    ENDS(r, 0, 7000000);
    ranks_free(r);
}

static void not_while_it_computes(void)
{
    ranks_t *r = two(3);
    compute(r, 0, 1000);
    wait_for(r, 0, 1); /* 1020 */
    wait_for(r, 0, 2); /* 1040 */
    sent(r);
    ranks_run(r);
    ENDS(r, 0, 1040);
    MUST(r->result.ranks[0].compute == 1000);
    ranks_free(r);
}

/* The wait for the second has room for the first. */
static void while_it_waits_for_another(void)
{
    ranks_t *r = two(3);
    wait_for(r, 0, 2);
    wait_for(r, 0, 1);
    compute(r, 2, 500); /* there at 611 */
    sent(r);
    ranks_run(r);
    ENDS(r, 0, 631);
    ranks_free(r);
}

/* The second is received when the rank waits again. */
static void any_takes_one(void)
{
    ranks_t *r = two(3);
    r->asks = true;
    list(r, 0, 1);
    list(r, 0, 2);
    choose(r, 0, SW_SELECT_ANY); /* 131 */
    compute(r, 0, 100);          /* 231 */
    wait_for(r, 0, 1);
    wait_for(r, 0, 2); /* 251 */
    sent(r);
    ranks_run(r);
    MUST(answer(r, 0, 0)->count == 1 && answer(r, 0, 0)->clock == 131);
    ENDS(r, 0, 251);
    ranks_free(r);
}

static void a_test_takes_all(void)
{
    static const unsigned tests[] = {SW_TEST_SOME, SW_TEST_ALL, SW_SELECT_SOME};
    for (int i = 0; i < 3; i++) {
        ranks_t *r = two(3);
        r->asks = true;
        compute(r, 0, 200);
        list(r, 0, 1);
        list(r, 0, 2);
        choose(r, 0, tests[i]); /* both: 240 */
        sent(r);
        ranks_run(r);
        MUST(answer(r, 0, 0)->count == 2 && answer(r, 0, 0)->clock == 240);
        ENDS(r, 0, 240);
        ranks_free(r);
    }
}

/* A rendezvous: met at 1000, the data are out of the port at 3110. The rank
 * receives meanwhile, and ends what it has begun. */
static void while_it_sends(sw_ps_t late, sw_ps_t end)
{
    ranks_t *r = ranks_linked(3);
    irecv(r, 0, 1, 0, 1);
    send(r, 0, 2, 0, 2000);
    compute(r, 0, 100);
    wait_for(r, 0, 1);
    compute(r, 1, late);
    send(r, 1, 0, 0, 1);
    compute(r, 2, 1000);
    recv(r, 2, 0, 0);
    ranks_run(r);
    ENDS(r, 0, end);
    ranks_free(r);
}

/* A receive that is cancelled stands in line no more. */
static void cancelled(void)
{
    ranks_t *r = two(3);
    compute(r, 0, 200);
    put(r, 0,
        (sw_vop_t){
            .kind = SW_OP_DROP, .request = 1, .flags = SW_DROP_CANCELLED});
    wait_for(r, 0, 2); /* 220 */
    recv(r, 0, 1, 0);  /* 240: the message is there */
    sent(r);
    ranks_run(r);
    ENDS(r, 0, 240);
    ranks_free(r);
}

int main(void)
{
    one_after_the_other();
    as_loggopsim();
    not_while_it_computes();
    while_it_waits_for_another();
    any_takes_one();
    a_test_takes_all();
    while_it_sends(0, 3210);
    while_it_sends(2994, 3225);
    while_it_sends(3050, 3230); /* there at 3161, computing until 3210 */
    cancelled();
    return 0;
}
