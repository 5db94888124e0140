/*
 * Receives from any source. The engine matches them by the order of arrival,
 * or as the host says, which says it late or cannot say it. Links are as in
 * ranks.h: a message of one byte sent at t arrives at t + 111, and its receive
 * is complete at t + 131.
 */
#include "ranks.h"

static ranks_t *begin(uint32_t n)
{
    ranks_t *r = ranks_linked(n);
    r->asks = true;
    return r;
}

/* The engine reads the later of two sends first. Of two messages that arrive at
 * the same time (through ports of their own: no bytes) it takes the lower
 * rank's. */
static void wildcards(void)
{
    ranks_t *r = begin(4);
    r->asks = false;
    recv(r, 0, SW_OP_ANY, SW_OP_ANY); /* of 3, there at 211: 231 */
    compute(r, 0, 1000);              /* 1231 */
    recv(r, 0, SW_OP_ANY, 1);         /* of 2, there at 300: 1251 */
    recv(r, 0, 1, SW_OP_ANY);         /* 1271 */
    recv(r, 0, SW_OP_ANY, SW_OP_ANY); /* rendezvous of 1 */
    compute(r, 1, 500);
    send(r, 1, 0, 1, 1); /* 510, there 611 */
    /* request 510 + 110 = 620; met 1271; answer 1381; there 1481 + 1001 */
    send(r, 1, 0, 1, 1001);
    compute(r, 2, 189);
    send(r, 2, 0, 1, 1);
    compute(r, 3, 100);
    send(r, 3, 0, 2, 1);
    ranks_run(r);
    ENDS(r, 0, 2502);
    ENDS(r, 1, 2382);
    MUST(r->result.wildcards == 3 && r->result.undecided == 0);
    ranks_free(r);

    r = begin(3); /* one that names its sender holds */
    r->asks = false;
    irecv(r, 0, SW_OP_ANY, 0, 1); /* takes that of 2: there 111 */
    irecv(r, 0, 2, 0, 2);         /* so this has the next: there 412 */
    irecv(r, 0, SW_OP_ANY, 0, 3); /* of 1: there 311 */
    for (uint32_t i = 1; i < 4; i++)
        wait_for(r, 0, i);
    compute(r, 1, 200);
    send(r, 1, 0, 0, 1);
    send(r, 2, 0, 0, 1);
    compute(r, 2, 291); /* 301 */
    send(r, 2, 0, 0, 1);
    ranks_run(r);
    ENDS(r, 0, 432);
    ranks_free(r);

    r = begin(3); /* what the second may take is kept */
    r->asks = false;
    irecv(r, 0, SW_OP_ANY, 1, 1); /* of 1: there 111 */
    irecv(r, 0, 2, SW_OP_ANY, 2); /* so this has the first of 2: 231 */
    recv(r, 0, 2, 2);             /* 540 */
    wait_for(r, 0, 1);
    wait_for(r, 0, 2);
    send(r, 1, 0, 1, 1);
    compute(r, 2, 100);
    send(r, 2, 0, 1, 1);   /* there 211 */
    send(r, 2, 0, 2, 300); /* ready 120, head 220, there 520 */
    ranks_run(r);
    ENDS(r, 0, 540);
    ranks_free(r);

    r = begin(2); /* of one sender, in order */
    r->asks = false;
    recv(r, 0, SW_OP_ANY, 0); /* 1130 */
    recv(r, 0, SW_OP_ANY, 0); /* met 1130, answer 1240; 3340 + 20 */
    send(r, 1, 0, 0, 1000);   /* there at 1110 */
    send(r, 1, 0, 0, 2000);   /* its request at 120 */
    ranks_run(r);
    ENDS(r, 0, 3360);
    ranks_free(r);

    for (int first = 1; first < 3; first++) { /* at the same time */
        r = begin(3);
        r->asks = false;
        for (int class = 0; class < SW_CLASS_COUNT; class++)
            r->model.links[class].g = r->model.links[class].G = 0;
        recv(r, 0, SW_OP_ANY, 0); /* of 1: 130 */
        recv(r, 0, first, 0);     /* 150, or never */
        send(r, 1, 0, 0, 1);
        send(r, 2, 0, 0, 1);
        MUST(ranks_try(r, 0) ==
             (first == 2 ? SW_ENGINE_DONE : SW_ENGINE_DEADLOCK));
        ranks_free(r);
    }
}

/* The host decides, and says so after the wait. */
static void matched(void)
{
    for (int took = 1; took < 3; took++) {
        ranks_t *r = begin(3);
        irecv(r, 0, SW_OP_ANY, 0, 1);
        irecv(r, 0, 2, 0, 2); /* is held by the first */
        wait_for(r, 0, 1);
        put(r, 0,
            (sw_vop_t){.kind = SW_OP_MATCHED, .request = 1, .peer = took});
        put(r, 0, (sw_vop_t){.kind = SW_OP_CLOCK});
        wait_for(r, 0, 2);
        compute(r, 1, 500);
        send(r, 1, 0, 0, 1); /* 631 */
        compute(r, 2, 100);
        send(r, 2, 0, 0, 1); /* 231 */
        compute(r, 2, 790);
        send(r, 2, 0, 0, 1); /* 900 + 131 */
        for (uint64_t seed = 0; seed < 20; seed++) {
            MUST(ranks_try(r, seed) == SW_ENGINE_DONE);
            MUST(answer(r, 0, 0)->clock == (took == 1 ? 631 : 231));
            ENDS(r, 0, took == 1 ? 631 : 1031);
            MUST(r->result.undecided == 1);
        }
        ranks_free(r);
    }
    /* Rank 0 asks before its host can tell. Virtual time decides: the message
     * of 2 is the first. The host has taken that of 1, so the message of 2 is
     * left for the receive that names 2. */
    ranks_t *r = begin(3);
    irecv(r, 0, SW_OP_ANY, 0, 1);
    list(r, 0, 1);
    choose(r, 0, SW_SELECT_ANY);
    put(r, 0, (sw_vop_t){.kind = SW_OP_MATCHED, .request = 1, .peer = 1});
    recv(r, 0, 2, 0);
    compute(r, 1, 500);
    send(r, 1, 0, 0, 1);
    compute(r, 2, 100);
    send(r, 2, 0, 0, 1);
    for (uint64_t seed = 0; seed < 20; seed++) {
        MUST(ranks_try(r, seed) == SW_ENGINE_DONE);
        MUST(answer(r, 0, 0)->clock == 231);
        ENDS(r, 0, 251);
        MUST(r->result.undecided == 1 && r->result.disordered == 1);
    }
    ranks_free(r);
}

/* A program that runs: rank 1 is late until it is let go. */
typedef struct {
    ranks_t *ranks;
    bool goes;
} late_t;

static sw_source_state_t late_next(void *of, uint32_t rank, sw_vop_t *op)
{
    late_t *l = of;
    return rank == 1 && !l->goes ? SW_SOURCE_LATER
                                 : ranks_next(l->ranks, rank, op);
}

static void late_answer(void *of, uint32_t rank, const sw_op_answer_t *answer)
{
    ranks_answer(((late_t *)of)->ranks, rank, answer);
}

/* 2 sends to 0 at 300 and 1 may do so before; others go on. */
static void late(void)
{
    ranks_t *r = begin(3);
    irecv(r, 0, 1, 0, 1);
    irecv(r, 0, 2, 0, 2);
    list(r, 0, 1);
    list(r, 0, 2);
    choose(r, 0, SW_SELECT_ANY);
    compute(r, 2, 300);
    send(r, 2, 0, 0, 1); /* 431 */
    put(r, 2, (sw_vop_t){.kind = SW_OP_CLOCK});
    compute(r, 1, 1000);
    send(r, 1, 0, 0, 1);
    late_t late = {.ranks = r};
    sw_op_source_t source = {&late, late_next, late_answer};
    sw_engine_options_t options = {.check = true};
    r->engine = sw_engine_new(&r->model, &source, &options);
    MUST(r->engine && sw_engine_run(r->engine) == SW_ENGINE_WAITS);
    MUST(answer(r, 2, 0)->clock == 310);
    MUST(r->rank[0].answered == 0);
    late.goes = true;
    MUST(sw_engine_run(r->engine) == SW_ENGINE_DONE);
    MUST(answer(r, 0, 0)->clock == 431 && r->rank[0].which[0][0] == 1);
    ranks_free(r);
}

/* The sender's rendezvous waits for a receive from any source. The receiver
 * tells what it has taken only after a barrier with the sender. */
static void told_late(void)
{
    for (int tells = 0; tells < 2; tells++) {
        ranks_t *r = begin(2);
        irecv(r, 0, SW_OP_ANY, 0, 1);
        collective(r, 0, SW_COLLECTIVE_OTHER, -1, 0, 0);
        if (!tells)
            put(r, 0, (sw_vop_t){.kind = SW_OP_CLOCK});
        wait_for(r, 0, 1);
        put(r, 0, (sw_vop_t){.kind = SW_OP_MATCHED, .request = 1, .peer = 1});
        send(r, 1, 0, 0, 2000); /* as in messages.c */
        collective(r, 1, SW_COLLECTIVE_OTHER, -1, 0, 0);
        say(&r->model, "free all");
        for (uint64_t seed = 0; seed < 20; seed++) {
            MUST(ranks_try(r, seed) == SW_ENGINE_DONE);
            ENDS(r, 0, 2340);
            ENDS(r, 1, 2220);
            MUST(r->result.undecided == (unsigned)tells);
        }
        ranks_free(r);
    }
}

/* Rank 0 is in the host's wait for a message of rank 1. Rank 1 sleeps until its
 * send is complete, and does nothing for its host meanwhile. */
static sw_source_state_t asleep_next(void *of, uint32_t rank, sw_vop_t *op)
{
    ranks_t *r = of;
    if (rank == 0 && r->rank[0].at == 2 && !r->rank[1].answered)
        return SW_SOURCE_LATER;
    return ranks_next(of, rank, op);
}

static void asleep(void)
{
    ranks_t *r = begin(2);
    irecv(r, 0, SW_OP_ANY, 0, 1);
    wait_for(r, 0, 1);
    put(r, 0, (sw_vop_t){.kind = SW_OP_MATCHED, .request = 1, .peer = 1});
    send(r, 1, 0, 0, 2000);
    put(r, 1, (sw_vop_t){.kind = SW_OP_CLOCK});
    sw_op_source_t source = {
        .of = r, .next = asleep_next, .answer = ranks_answer};
    r->engine = sw_engine_new(&r->model, &source, NULL);
    MUST(r->engine);
    for (int i = 0; i < 3 && !r->rank[1].answered; i++)
        MUST(sw_engine_run(r->engine) != SW_ENGINE_DEADLOCK);
    MUST(answer(r, 1, 0)->clock == 2220);
    MUST(sw_engine_run(r->engine) == SW_ENGINE_DONE);
    sw_engine_result(r->engine, &r->result);
    ENDS(r, 0, 2340);
    ranks_free(r);
}

/* What rank 0 has taken comes late, but it comes: its answer to 2 is earlier
 * than 3's message. */
static sw_source_state_t slow_next(void *of, uint32_t rank, sw_vop_t *op)
{
    late_t *l = of;
    return rank == 0 && l->ranks->rank[0].at == 2 && !l->goes
               ? SW_SOURCE_LATER
               : ranks_next(l->ranks, rank, op);
}

static void held(void)
{
    ranks_t *r = begin(4);
    irecv(r, 0, SW_OP_ANY, 0, 1);
    wait_for(r, 0, 1); /* 131 */
    put(r, 0, (sw_vop_t){.kind = SW_OP_MATCHED, .request = 1, .peer = 1});
    send(r, 0, 2, 0, 1); /* 262 */
    send(r, 1, 0, 0, 1);
    irecv(r, 2, 3, 0, 1);
    irecv(r, 2, 0, 0, 2);
    list(r, 2, 1);
    list(r, 2, 2);
    choose(r, 2, SW_SELECT_ANY);
    compute(r, 3, 400);
    send(r, 3, 2, 0, 1); /* 531 */
    late_t late = {.ranks = r};
    sw_op_source_t source = {
        .of = &late, .next = slow_next, .answer = late_answer};
    r->engine = sw_engine_new(&r->model, &source, NULL);
    MUST(r->engine);
    for (int i = 0; i < 3; i++)
        MUST(sw_engine_run(r->engine) == SW_ENGINE_WAITS);
    MUST(r->rank[2].answered == 0);
    late.goes = true;
    MUST(sw_engine_run(r->engine) == SW_ENGINE_DONE);
    MUST(answer(r, 2, 0)->clock == 262 && r->rank[2].which[0][0] == 1);
    ranks_free(r);
}

int main(void)
{
    wildcards();
    matched();
    late();
    told_late();
    asleep();
    held();
    return 0;
}
