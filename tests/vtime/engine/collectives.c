/*
 * Collectives keep their dependencies whatever they cost. Timed by cost or by
 * messages, they take the times that this test calculates by hand.
 */
#include "ranks.h"

/* Rank i comes at 100 (i + 1), then the collective. Without cost. */
static ranks_t *come(unsigned what, int root)
{
    ranks_t *r = ranks_new(4);
    say(&r->model, "free all");
    for (uint32_t i = 0; i < 4; i++) {
        compute(r, i, 100 * (i + 1));
        collective(r, i, what, root, 8, 0);
    }
    return r;
}

static void leave(unsigned what, int root, const sw_ps_t *times)
{
    ranks_t *r = come(what, root);
    ranks_run(r);
    sw_ps_t spent = 0;
    for (uint32_t i = 0; i < 4; i++) {
        ENDS(r, i, times[i]);
        spent += times[i] - 100 * (i + 1);
        MUST(r->result.ranks[i].collectives == times[i] - 100 * (i + 1));
    }
    MUST(r->result.calls[what] == 4 && r->result.time[what] == spent);
    ranks_free(r);
}

#define TIMES(...)    \
    (const sw_ps_t[]) \
    {                 \
        __VA_ARGS__   \
    }

static void free_ones(void)
{
    static const unsigned all[] = {
        SW_COLLECTIVE_BARRIER,   SW_COLLECTIVE_ALLREDUCE,
        SW_COLLECTIVE_ALLTOALL,  SW_COLLECTIVE_ALLTOALLV,
        SW_COLLECTIVE_ALLGATHER, SW_COLLECTIVE_REDUCE_SCATTER,
        SW_COLLECTIVE_OTHER};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        leave(all[i], -1, TIMES(400, 400, 400, 400));
    /* A leaf waits for the root, no more. */
    leave(SW_COLLECTIVE_BCAST, 0, TIMES(100, 200, 300, 400));
    leave(SW_COLLECTIVE_BCAST, 2, TIMES(300, 300, 300, 400));
    leave(SW_COLLECTIVE_SCATTERV, 3, TIMES(400, 400, 400, 400));
    /* The root for its last contributor. */
    leave(SW_COLLECTIVE_REDUCE, 0, TIMES(400, 200, 300, 400));
    leave(SW_COLLECTIVE_GATHERV, 3, TIMES(100, 200, 300, 400));
    leave(SW_COLLECTIVE_SCAN, -1, TIMES(100, 200, 300, 400));

    ranks_t *r = ranks_new(4); /* those of lower rank come later */
    for (uint32_t i = 0; i < 4; i++) {
        compute(r, i, i == 1 ? 500 : 100 + i);
        collective(r, i, SW_COLLECTIVE_EXSCAN, -1, 8, 0);
    }
    ranks_run(r);
    ENDS(r, 0, 100);
    ENDS(r, 1, 500);
    ENDS(r, 2, 500);
    ENDS(r, 3, 500);
    ranks_free(r);
}

/* A measured table: waiting 3 ns, leaving 1 ns. */
static void by_cost(void)
{
    for (int root = 0; root < 2; root++) {
        ranks_t *r = ranks_new(2);
        say(&r->model, "table bcast 2 8 3 1");
        say(&r->model, "table bcast 2 16 3 1");
        say(&r->model, "measured bcast");
        compute(r, 0, 5000);
        for (uint32_t i = 0; i < 2; i++)
            collective(r, i, SW_COLLECTIVE_BCAST, root, 8, 0);
        ranks_run(r);
        ENDS(r, 0, root == 0 ? 6000 : 8000);
        ENDS(r, 1, root == 0 ? 8000 : 1000);
        ranks_free(r);
    }
}

/* 4 members, o = 10, o' = 20, L = 100, g = 5, G = 1, 1 byte. Binomial from 0:
 * to 2, then to 1; 2 to 3. A step waits for its send, which is complete at
 * once. 2 has it at 131, 1 at 141, 3 at 131 + 131. */
static void by_messages(void)
{
    ranks_t *r = ranks_linked(4);
    say(&r->model, "messages bcast binomial");
    for (uint32_t i = 0; i < 4; i++)
        collective(r, i, SW_COLLECTIVE_BCAST, 0, 1, 0);
    ranks_run(r);
    ENDS(r, 0, 20);
    ENDS(r, 1, 141);
    ENDS(r, 2, 141);
    ENDS(r, 3, 262);
    MUST(r->result.messages == 3);
    ranks_free(r);

    /* Recursive doubling, 2 members: exchange and reduce, 8 bytes at 2 ps.
     * There at 118, 138, reduced at 154. The other comes at 1000. */
    r = ranks_linked(2);
    r->model.reduce = 2;
    say(&r->model, "messages allreduce recursive_doubling");
    compute(r, 1, 1000);
    for (uint32_t i = 0; i < 2; i++)
        collective(r, i, SW_COLLECTIVE_ALLREDUCE, -1, 8, 0);
    ranks_run(r);
    ENDS(r, 0, 1154); /* waits for the other's message */
    ENDS(r, 1, 1036); /* 1000 + 20 for what is there + 16 */
    ranks_free(r);

    /* All of it scaled by a half. */
    r = ranks_linked(2);
    r->model.reduce = 2;
    say(&r->model, "messages allreduce recursive_doubling");
    say(&r->model, "scale allreduce 0.5");
    for (uint32_t i = 0; i < 2; i++)
        collective(r, i, SW_COLLECTIVE_ALLREDUCE, -1, 8, 0);
    ranks_run(r);
    ENDS(r, 0, 77);
    ENDS(r, 1, 77);
    ranks_free(r);
}

/* Linear, 3 members, g = 50, all scaled by a half: to 1 at 5, there at 56, to
 * 2 at 30, there at 81; o' = 10. */
static void scaled_gap(void)
{
    ranks_t *r = ranks_linked(3);
    for (int class = 0; class < SW_CLASS_COUNT; class++)
        r->model.links[class].g = 50;
    say(&r->model, "messages bcast linear");
    say(&r->model, "scale bcast 0.5");
    for (uint32_t i = 0; i < 3; i++)
        collective(r, i, SW_COLLECTIVE_BCAST, 0, 1, 0);
    ranks_run(r);
    ENDS(r, 0, 10);
    ENDS(r, 1, 66);
    ENDS(r, 2, 91);
    ranks_free(r);
}

/* Alltoallv by messages, members of different sizes: pairwise begins when the
 * last has come, at 1000, with blocks of the most, 16 bytes: there at 1126. */
static void by_messages_of_sizes(void)
{
    ranks_t *r = ranks_linked(2);
    say(&r->model, "messages alltoallv pairwise");
    compute(r, 1, 1000);
    for (uint32_t i = 0; i < 2; i++)
        collective(r, i, SW_COLLECTIVE_ALLTOALLV, -1, i ? 16 : 8, 0);
    ranks_run(r);
    ENDS(r, 0, 1146);
    ENDS(r, 1, 1146);
    ranks_free(r);
}

/* A nonblocking one goes on while the members compute. */
static void overlapped(void)
{
    for (int messages = 0; messages < 2; messages++) {
        ranks_t *r = ranks_linked(2);
        say(&r->model, messages ? "messages allreduce recursive_doubling"
                                : "free allreduce");
        for (uint32_t i = 0; i < 2; i++) {
            collective(r, i, SW_COLLECTIVE_ALLREDUCE, -1, 8, 1);
            collective(r, i, SW_COLLECTIVE_ALLREDUCE, -1, 8, 2);
            compute(r, i, i ? 60 : 30);
            wait_for(r, i, 2);
            wait_for(r, i, 1);
        }
        ranks_run(r);
        /* By messages, two strands: sends at 0, both complete at 10; heads
         * 110, there 118, and into the wire at 18, head 118, there 126. The
         * processor receives them one after the other: 138, 158. */
        ENDS(r, 0, messages ? 158 : 30);
        ENDS(r, 1, messages ? 158 : 60);
        ranks_free(r);
    }
}

/* Offloaded: 2 ns of the processor, the rest by itself. */
static void offloaded(void)
{
    ranks_t *r = ranks_new(2);
    say(&r->model, "offload barrier 2 5 0");
    for (uint32_t i = 0; i < 2; i++) {
        compute(r, i, 1000);
        collective(r, i, SW_COLLECTIVE_BARRIER, -1, 0, 1);
        compute(r, i, 100000);
        wait_for(r, i, 1);
    }
    ranks_run(r);
    ENDS(r, 0, 103000);
    ENDS(r, 1, 103000);
    MUST(r->result.ranks[0].collectives == 2000);
    ranks_free(r);
}

/* Parts of the world, in an order of their own. */
static void contexts(void)
{
    ranks_t *r = ranks_new(4);
    say(&r->model, "free all");
    context(r, 5, 2, MEMBERS(3, 0));
    context(r, 4000000000u, 2, MEMBERS(1, 2));
    for (uint32_t i = 0; i < 4; i++) {
        compute(r, i, 100 * (i + 1));
        put(r, i,
            (sw_vop_t){.kind = SW_OP_COLLECTIVE,
                       .what = SW_COLLECTIVE_BCAST,
                       .peer = 0,
                       .context = i == 0 || i == 3 ? 5 : 4000000000u});
    }
    ranks_run(r);
    ENDS(r, 0, 400); /* its root is 3 */
    ENDS(r, 1, 200);
    ENDS(r, 2, 300);
    ENDS(r, 3, 400);
    /* The same again is no harm; another is refused. */
    uint32_t same[] = {1, 2}, other[] = {2, 1}, twice[] = {1, 1}, far[] = {9};
    MUST(sw_engine_context(r->engine, 4000000000u, 2, same));
    MUST(!sw_engine_context(r->engine, 4000000000u, 2, other));
    MUST(!sw_engine_context(r->engine, 6, 2, twice));
    MUST(!sw_engine_context(r->engine, 6, 1, far));
    ranks_free(r);
}

static void wrong(void)
{
    char text[200];
    ranks_t *r = ranks_new(3);
    collective(r, 0, SW_COLLECTIVE_BCAST, 0, 8, 0);
    collective(r, 1, SW_COLLECTIVE_BCAST, 0, 8, 0);
    collective(r, 2, SW_COLLECTIVE_BCAST, 1, 8, 0);
    MUST(ranks_try(r, 0) == SW_ENGINE_WRONG);
    sw_engine_stuck(r->engine, 2, text, sizeof text);
    MUST(!strcmp(text, "collective 0 of context 0 is bcast (root 1) here, "
                       "bcast (root 0) on rank 0"));
    ranks_free(r);

    r = ranks_new(2);
    collective(r, 0, SW_COLLECTIVE_BARRIER, -1, 8, 0);
    collective(r, 1, SW_COLLECTIVE_ALLREDUCE, -1, 8, 0);
    MUST(ranks_try(r, 0) == SW_ENGINE_WRONG);
    ranks_free(r);

    r = ranks_new(2);
    put(r, 1, (sw_vop_t){.kind = SW_OP_SEND, .peer = 0, .context = 3});
    MUST(ranks_try(r, 0) == SW_ENGINE_WRONG);
    sw_engine_stuck(r->engine, 1, text, sizeof text);
    MUST(!strcmp(text, "there is no context 3"));
    ranks_free(r);

    r = ranks_new(2);
    send(r, 1, 2, 0, 1);
    MUST(ranks_try(r, 0) == SW_ENGINE_WRONG);
    ranks_free(r);

    r = ranks_new(2);
    collective(r, 0, SW_COLLECTIVE_GATHER, 2, 8, 0);
    MUST(ranks_try(r, 0) == SW_ENGINE_WRONG);
    ranks_free(r);
}

static void deadlock(void)
{
    char text[200];
    ranks_t *r = ranks_linked(4);
    recv(r, 0, 1, 7);
    send(r, 1, 0, 8, 5000);
    irecv(r, 2, SW_OP_ANY, SW_OP_ANY, 1);
    wait_for(r, 2, 1);
    MUST(ranks_try(r, 0) == SW_ENGINE_DEADLOCK);
    sw_engine_stuck(r->engine, 0, text, sizeof text);
    MUST(!strcmp(text, "receive from 1, tag 7"));
    sw_engine_stuck(r->engine, 1, text, sizeof text);
    MUST(!strcmp(text, "send to 0, tag 8"));
    sw_engine_stuck(r->engine, 2, text, sizeof text);
    MUST(!strcmp(text, "wait for receive from anybody, any tag"));
    sw_engine_stuck(r->engine, 3, text, sizeof text);
    MUST(!*text);
    MUST(ranks_try(r, 77) == SW_ENGINE_DEADLOCK);
    ranks_free(r);

    r = ranks_new(2);
    collective(r, 0, SW_COLLECTIVE_BARRIER, -1, 0, 0);
    MUST(ranks_try(r, 0) == SW_ENGINE_DEADLOCK);
    sw_engine_stuck(r->engine, 0, text, sizeof text);
    MUST(!strcmp(text, "barrier on context 0"));
    ranks_free(r);
}

int main(void)
{
    free_ones();
    by_cost();
    by_messages();
    scaled_gap();
    by_messages_of_sizes();
    overlapped();
    offloaded();
    contexts();
    wrong();
    deadlock();
    return 0;
}
