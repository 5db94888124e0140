/*
 * Ranks whose operations are a partial order, against times by hand; and
 * LogGOPSim's rule, against what LogGOPSim says. o = 10, o' = 20, L = 100, g =
 * 5, G = 1 (ranks.h).
 */
#include "ranks.h"

#include <pthread.h>

static void graph(ranks_t *r, uint32_t rank)
{
    put(r, rank, (sw_vop_t){.kind = SW_OP_THREAD, .what = SW_THREAD_GRAPH});
}

static void cpu(ranks_t *r, uint32_t rank, uint32_t number)
{
    put(r, rank,
        (sw_vop_t){
            .kind = SW_OP_THREAD, .what = SW_THREAD_GOES, .request = number});
}

static void needs(ranks_t *r, uint32_t rank, int back, uint32_t what)
{
    put(r, rank,
        (sw_vop_t){.kind = SW_OP_THREAD,
                   .what = SW_THREAD_NEEDS,
                   .tag = back,
                   .request = what});
}

/* Two chains, each behind a message of its own. That of rank 2 is first, at
 * 111, then that of rank 1, at 1111: no order of the two waits is right. */
static void whichever_is_first(void)
{
    for (int late = 1; late <= 2; late++) {
        ranks_t *r = ranks_linked(3);
        graph(r, 0);
        recv(r, 0, 1, 0);
        recv(r, 0, 2, 0);
        needs(r, 0, 2, SW_NEEDS_OVER);
        compute(r, 0, 300);
        needs(r, 0, 2, SW_NEEDS_OVER);
        compute(r, 0, 300);
        compute(r, (uint32_t)late, 1000);
        send(r, 1, 0, 0, 1);
        send(r, 2, 0, 0, 1);
        ranks_run(r);
        ENDS(r, 0, 1111 + 20 + 300);
        MUST(r->times[0].compute == 600 && r->times[0].messages == 831 &&
             r->times[0].waiting == 791);
        ranks_free(r);
    }
}

/* Each processor does one thing at a time, in the order in which it is ready;
 * several go on at once, and wait for each other where they must. */
static void processors(void)
{
    ranks_t *r = ranks_linked(1);
    graph(r, 0);
    compute(r, 0, 100);
    compute(r, 0, 50); /* 150 */
    cpu(r, 0, 7);
    compute(r, 0, 120);
    needs(r, 0, 1, SW_NEEDS_OVER);
    needs(r, 0, 3, SW_NEEDS_OVER);
    compute(r, 0, 10); /* 120 to 130 */
    cpu(r, 0, 0);
    needs(r, 0, 1, SW_NEEDS_OVER);
    compute(r, 0, 5); /* 150 to 155 */
    needs(r, 0, 1, SW_NEEDS_BEGUN);
    cpu(r, 0, 7);
    compute(r, 0, 100); /* 150 to 250 */
    ranks_run(r);
    ENDS(r, 0, 250);
    MUST(r->times[0].compute == 230 && r->times[0].waiting == 20);
    ranks_free(r);
}

/* A receive takes its processor when the message is there: of one that computes
 * behind it, of another at once. */
static void receiving_takes_a_processor(void)
{
    for (uint32_t on = 0; on <= 1; on++) {
        ranks_t *r = ranks_linked(2);
        graph(r, 0);
        recv(r, 0, 1, 0);
        cpu(r, 0, on);
        compute(r, 0, 500);
        send(r, 1, 0, 0, 1);
        ranks_run(r);
        ENDS(r, 0, on ? 500 : 520);
        ranks_free(r);
    }
}

/* A rendezvous, wildcards and many sends: as a sequence would take it. */
static void as_a_sequence(void)
{
    sw_ps_t end[2];
    for (int way = 0; way < 2; way++) {
        ranks_t *r = ranks_linked(4);
        for (uint32_t i = 0; i < 4; i++) {
            if (way)
                graph(r, i);
            for (uint32_t k = 1; k < 4; k++)
                isend(r, i, (i + k) % 4, 0, 700 * k, way ? 0 : k);
            for (uint32_t k = 1; k < 4; k++)
                irecv(r, i, i ? (int)((i + k) % 4) : SW_OP_ANY, 0,
                      way ? 0 : 3 + k);
            for (uint32_t k = 1; k < 7 && !way; k++)
                wait_for(r, i, k);
        }
        ranks_run(r);
        end[way] = r->result.end;
        ranks_free(r);
    }
    MUST(end[0] == end[1]);
}

/* What it waits for is told; what cannot be is refused. */
static void stuck_and_wrong(void)
{
    char text[128];
    ranks_t *r = ranks_linked(2);
    graph(r, 0);
    compute(r, 0, 5);
    recv(r, 0, 1, 8);
    MUST(ranks_try(r, 0) == SW_ENGINE_DEADLOCK);
    sw_engine_stuck(r->engine, 0, text, sizeof text);
    MUST(!strcmp(text, "receive from 1, tag 8"));
    ranks_free(r);
    for (int which = 0; which < 3; which++) {
        r = ranks_linked(2);
        graph(r, 0);
        compute(r, 0, 5);
        if (which == 0)
            needs(r, 0, 2, SW_NEEDS_OVER);
        else if (which == 1)
            collective(r, 0, SW_COLLECTIVE_BARRIER, -1, 0, 0);
        else
            send(r, 0, 2, 0, 1);
        compute(r, 0, 5);
        MUST(ranks_try(r, 0) == SW_ENGINE_WRONG);
        ranks_free(r);
    }
}

/* A processor's number may be any, and the rank has two. */
static void a_high_number(void)
{
    ranks_t *r = ranks_linked(1);
    graph(r, 0);
    compute(r, 0, 5);
    cpu(r, 0, UINT32_MAX - 1);
    compute(r, 0, 7);
    ranks_run(r);
    ENDS(r, 0, 7);
    ranks_free(r);
}

/* Receives that need one another's beginning are posted in this order, and the
 * first message is the first one's. */
static void in_the_order_of_posting(void)
{
    ranks_t *r = ranks_linked(2);
    graph(r, 0);
    recv(r, 0, 1, 8);
    needs(r, 0, 1, SW_NEEDS_BEGUN);
    recv(r, 0, 1, 8);
    needs(r, 0, 2, SW_NEEDS_OVER);
    compute(r, 0, 50000);
    send(r, 1, 0, 8, 1);
    compute(r, 1, 1000000);
    send(r, 1, 0, 8, 1);
    ranks_run(r);
    sw_ps_t last = r->result.end;
    MUST(last < 1040000);
    ranks_free(r);
}

/* A chain may have any length, and the stack has not. */
static void *a_long_chain(void *unused)
{
    enum { LONG = 20000 };
    ranks_t *r = ranks_linked(2);
    graph(r, 0);
    for (int i = 0; i < LONG; i++) {
        if (i)
            needs(r, 0, 1, SW_NEEDS_BEGUN);
        recv(r, 0, 1, 8);
        send(r, 1, 0, 8, 1);
    }
    ranks_run(r);
    MUST(r->result.messages == LONG);
    ranks_free(r);
    return unused;
}

static void on_a_small_stack(void *(*run)(void *))
{
    pthread_t thread;
    pthread_attr_t small;
    MUST(!pthread_attr_init(&small));
    MUST(!pthread_attr_setstacksize(&small, 256 << 10));
    MUST(!pthread_create(&thread, &small, run, NULL));
    MUST(!pthread_join(thread, NULL));
    pthread_attr_destroy(&small);
}

/* LogGOPSim's rule ----------------------------------------------------------
 */

static ranks_t *loggopsim(uint32_t n)
{
    ranks_t *r = ranks_new(n);
    r->model.loggopsim = true;
    for (int class = 0; class < SW_CLASS_COUNT; class++)
        r->model.links[class] = (sw_model_link_t){.o_send = 1500000,
                                                  .o_recv = 1500000,
                                                  .L = 2500000,
                                                  .g = 1000000,
                                                  .G = 6000,
                                                  .S = 65535};
    for (uint32_t i = 0; i < n; i++)
        graph(r, i);
    return r;
}

static void takes(ranks_t *r, sw_ps_t ns)
{
    ranks_run(r);
    if (r->result.end != 1000 * ns)
        fprintf(stderr, "%lld, not %lld ns\n", (long long)r->result.end / 1000,
                (long long)ns);
    MUST(r->result.end == 1000 * ns);
    ranks_free(r);
}

static void all_to_all(uint64_t bytes, sw_ps_t ns)
{
    ranks_t *r = loggopsim(8);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t k = 1; k < 8; k++) {
            send(r, i, (i + k) % 8, 0, bytes);
            recv(r, i, (int)((i + 8 - k) % 8), 0);
        }
    takes(r, ns);
}

static void gather_and_scatter(bool gather, uint64_t bytes, sw_ps_t ns)
{
    ranks_t *r = loggopsim(8);
    for (uint32_t i = 1; i < 8; i++) {
        uint32_t from = gather ? i : 0, to = gather ? 0 : i;
        send(r, from, to, 0, bytes);
        recv(r, to, (int)from, 0);
    }
    takes(r, ns);
}

/* Each answers to the root when it has heard from it. */
static void linear_barrier(sw_ps_t ns)
{
    ranks_t *r = loggopsim(8);
    for (uint32_t i = 1; i < 8; i++) {
        send(r, i, 0, 0, 1);
        recv(r, 0, (int)i, 0);
    }
    for (uint32_t i = 1; i < 8; i++) {
        recv(r, i, 0, 0);
        for (int k = 0; k < 7; k++)
            needs(r, 0, 7 - k + (int)i - 1, SW_NEEDS_OVER);
        send(r, 0, i, 0, 1);
    }
    takes(r, ns);
}

/* Down a binomial tree, or up. */
static void tree(uint32_t n, bool up, uint64_t bytes, sw_ps_t ns)
{
    ranks_t *r = loggopsim(n);
    uint32_t got[16] = {0}, ops[16] = {0};
    for (uint32_t bit = 1; bit < n; bit *= 2)
        for (uint32_t i = 0; i < bit && i + bit < n; i++) {
            if (up)
                continue;
            if (i)
                needs(r, i, (int)(ops[i] - got[i]), SW_NEEDS_OVER);
            send(r, i, i + bit, 0, bytes);
            ops[i]++;
            recv(r, i + bit, (int)i, 0);
            got[i + bit] = ops[i + bit]++;
        }
    for (uint32_t bit = 1; bit < n && up; bit *= 2)
        for (uint32_t i = 0; i < n; i += 2 * bit) {
            if (i + bit >= n)
                continue;
            for (uint32_t k = 1; k <= ops[i + bit]; k++)
                needs(r, i + bit, (int)k, SW_NEEDS_OVER);
            send(r, i + bit, i, 0, bytes);
            recv(r, i, (int)(i + bit), 0);
            ops[i]++;
        }
    takes(r, ns);
}

/* A segment goes on when it is there; segments overtake none. */
static void ring(uint32_t segments, uint64_t bytes, sw_ps_t ns)
{
    ranks_t *r = loggopsim(8);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t k = 0; k < segments; k++) {
            if (i)
                recv(r, i, (int)i - 1, (int)k);
            if (i)
                needs(r, i, 1, SW_NEEDS_OVER);
            if (i < 7)
                send(r, i, i + 1, (int)k, bytes);
            else
                compute(r, i, 0);
        }
    takes(r, ns);
}

/* In rounds, of which each needs the one before. */
static void dissemination(uint32_t n, uint64_t bytes, sw_ps_t ns)
{
    ranks_t *r = loggopsim(n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t far = 1, round = 0; far < n; far *= 2, round++) {
            for (int k = 1; k <= 2 && round; k++)
                needs(r, i, k, SW_NEEDS_OVER);
            send(r, i, (i + far) % n, (int)round, bytes);
            if (round)
                needs(r, i, 2, SW_NEEDS_OVER);
            recv(r, i, (int)((i + n - far) % n), (int)round);
        }
    takes(r, ns);
}

static void as_loggopsim_says(void)
{
    all_to_all(1, 21000);
    all_to_all(1024, 81466);
    all_to_all(65535, 2790928);
    all_to_all(200000, 8438458);
    gather_and_scatter(true, 1, 14500);
    gather_and_scatter(true, 1024, 57466);
    gather_and_scatter(true, 200000, 8414458);
    gather_and_scatter(false, 1, 14500);
    gather_and_scatter(false, 1024, 54466);
    gather_and_scatter(false, 200000, 8411458);
    linear_barrier(29000);
    tree(8, false, 1024, 34914);
    tree(8, false, 200000, 3616482);
    tree(13, false, 1, 18000);
    tree(13, false, 1024, 42052);
    tree(8, true, 1024, 34914);
    tree(13, true, 1, 18000);
    tree(13, true, 1024, 42552);
    tree(13, true, 200000, 4817976);
    ring(1, 1, 38500);
    ring(16, 64, 124498);
    ring(16, 12500, 1733368);
    dissemination(8, 1024, 34914);
    dissemination(13, 1024, 46552);
    dissemination(13, 200000, 4821976);
}

/* In a sequence, too, a send waits for the port of the one before, and a
 * receive takes in the bytes. */
static void loggopsim_in_a_sequence(void)
{
    ranks_t *r = loggopsim(3);
    for (uint32_t i = 0; i < 3; i++)
        r->rank[i].count = 0;
    send(r, 0, 1, 0, 1001); /* at 0, until 1500; the port until 7000 */
    send(r, 0, 2, 0, 1);    /* at 7000 */
    recv(r, 1, 0, 0);       /* 4000 + 1500 + 6000 */
    recv(r, 2, 0, 0);
    ranks_run(r);
    ENDS(r, 0, 8500000);
    ENDS(r, 1, 11500000);
    ENDS(r, 2, 12500000);
    ranks_free(r);
}

/* There is no handshake: a send ends as its receive begins. */
static void loggopsim_synchronous(void)
{
    ranks_t *r = loggopsim(2);
    r->rank[0].count = r->rank[1].count = 0;
    send(r, 0, 1, 0, 65536);
    compute(r, 1, 9000000);
    recv(r, 1, 0, 0);
    ranks_run(r);
    ENDS(r, 0, 9000000);
    ENDS(r, 1, 9000000 + 1500000 + 65535 * 6000);
    ranks_free(r);
}

/* A rank without operations gets a message. */
static void loggopsim_to_an_empty_rank(void)
{
    ranks_t *r = loggopsim(3);
    send(r, 0, 1, 0, 8);
    cpu(r, 2, 9);
    compute(r, 2, 1);
    send(r, 0, 2, 0, 8);
    ranks_run(r);
    ENDS(r, 0, 2 * 1500000);
    ranks_free(r);
}

int main(void)
{
    whichever_is_first();
    processors();
    receiving_takes_a_processor();
    as_a_sequence();
    stuck_and_wrong();
    a_high_number();
    in_the_order_of_posting();
    on_a_small_stack(a_long_chain);
    loggopsim_to_an_empty_rank();
    as_loggopsim_says();
    loggopsim_in_a_sequence();
    loggopsim_synchronous();
    return 0;
}
