/*
 * Nonblocking collectives that members carry out in their calls: when each
 * member leaves, calculated by hand. The blocking call takes 1000 ps.
 */
#include "ranks.h"

enum { T = 1000 };

/* Starts 100, shared 600, own 200. */
static ranks_t *ranks_started(uint32_t n, const char *aside_held)
{
    char line[80];
    ranks_t *r = ranks_new(n);
    say(&r->model, "table all 2 8 1 1");
    for (uint32_t i = 3; i <= n; i++) {
        snprintf(line, sizeof line, "table all %u 8 1 1", i);
        say(&r->model, line);
    }
    say(&r->model, "measured all");
    snprintf(line, sizeof line, "started all 8 0.1 0.6 0.2 %s", aside_held);
    say(&r->model, line);
    return r;
}

/* Each starts it after `come`, computes, and waits. */
static void member(ranks_t *r, uint32_t rank, unsigned what, int root,
                   sw_ps_t come, sw_ps_t computes)
{
    compute(r, rank, come);
    collective(r, rank, what, root, 8, 1);
    compute(r, rank, computes);
    wait_for(r, rank, 1);
}

static void two(const char *aside_held, const sw_ps_t *come,
                const sw_ps_t *computes, const sw_ps_t *end)
{
    ranks_t *r = ranks_started(2, aside_held);
    for (uint32_t i = 0; i < 2; i++)
        member(r, i, SW_COLLECTIVE_ALLREDUCE, -1, come[i], computes[i]);
    ranks_run(r);
    for (uint32_t i = 0; i < 2; i++) {
        ENDS(r, i, end[i]);
        MUST(r->result.ranks[i].compute == come[i] + computes[i]);
    }
    ranks_free(r);
}

#define TWO(a, b)     \
    (const sw_ps_t[]) \
    {                 \
        a, b          \
    }

static void waits(void)
{
    /* Both wait at once: all parts, one after the other. */
    two("0 0", TWO(0, 0), TWO(0, 0), TWO(900, 900));
    /* The first waits at 100 until 900, and has done what is shared at 700. */
    two("0 0", TWO(0, 0), TWO(0, 5000), TWO(900, 5300));
    /* Nothing is shared before the second has come at 2100. */
    two("0 0", TWO(0, 2000), TWO(0, 0), TWO(2900, 2900));
    /* Both compute: nothing happens before the first waits, at 5100. */
    two("0 0", TWO(0, 0), TWO(5000, 5000), TWO(5900, 5900));
    two("0 0", TWO(0, 0), TWO(5000, 5100), TWO(5900, 5900));
    /* A part of 600 goes on aside. */
    two("0.5 0", TWO(0, 0), TWO(5000, 5000), TWO(5600, 5600));
    two("1 0", TWO(0, 0), TWO(5000, 5000), TWO(5300, 5300));
    two("1 0", TWO(0, 0), TWO(100, 100), TWO(900, 900));
    /* Held: the first leaves with the second. */
    two("0 1", TWO(0, 0), TWO(0, 5000), TWO(5300, 5300));
    two("0 1", TWO(0, 0), TWO(0, 0), TWO(900, 900));
}

/* A blocking one is as ever, and so is what is free or goes by messages. */
static void others(void)
{
    ranks_t *r = ranks_started(2, "0 0");
    for (uint32_t i = 0; i < 2; i++)
        collective(r, i, SW_COLLECTIVE_ALLREDUCE, -1, 8, 0);
    ranks_run(r);
    ENDS(r, 0, T);
    ranks_free(r);

    static const char *const lines[] = {"free all", "offload all 0 0 0"};
    for (int k = 0; k < 2; k++) {
        r = ranks_started(2, "0 0");
        say(&r->model, lines[k]);
        member(r, 0, SW_COLLECTIVE_ALLREDUCE, -1, 0, 0);
        member(r, 1, SW_COLLECTIVE_ALLREDUCE, -1, 0, 5000);
        ranks_run(r);
        ENDS(r, 0, 0);
        ENDS(r, 1, 5000);
        ranks_free(r);
    }
}

/* Any call that waits makes progress; one that does not wait makes none. */
static void attends_in_any_call(void)
{
    for (int waits = 0; waits < 2; waits++) {
        ranks_t *r = ranks_started(2, "0 0");
        for (uint32_t i = 0; i < 2; i++) {
            collective(r, i, SW_COLLECTIVE_ALLREDUCE, -1, 8, 1);
            compute(r, i, 1000);
            if (waits || i == 0)
                isend(r, i, 1 - i, 0, 8, 2);
            if (waits || i == 1)
                irecv(r, i, (int)(1 - i), 0, 3);
            if (waits) {
                wait_for(r, i, 3);
                compute(r, i, 10000);
            } else {
                compute(r, i, 10000);
                wait_for(r, i, i == 0 ? 2 : 3);
            }
            wait_for(r, i, 1);
        }
        r->model.links[SW_CLASS_DOMAIN].L = 10;
        ranks_run(r);
        /* At 1100 both attend, for 10 ps: the work is done. */
        ENDS(r, 0, waits ? 11110 : 11900);
        ENDS(r, 1, waits ? 11110 : 11900);
        ranks_free(r);
    }
}

/* A rank attends as it tests, and as its program ends. */
static void attends_in_tests(void)
{
    ranks_t *r = ranks_started(2, "0 1");
    r->asks = true;
    for (uint32_t i = 0; i < 2; i++)
        collective(r, i, SW_COLLECTIVE_ALLREDUCE, -1, 8, 1);
    wait_for(r, 0, 1);
    compute(r, 1, 1000);
    list(r, 1, 1);
    choose(r, 1, SW_TEST_ANY);
    compute(r, 1, 5000);
    list(r, 1, 1);
    choose(r, 1, SW_TEST_ANY);
    ranks_run(r);
    MUST(!answer(r, 1, 0)->found && answer(r, 1, 1)->found);
    ENDS(r, 0, 1100 + 200); /* shared was done at 700 */
    ENDS(r, 1, 6100);
    ranks_free(r);

    r = ranks_started(2, "0 1");
    for (uint32_t i = 0; i < 2; i++)
        collective(r, i, SW_COLLECTIVE_ALLREDUCE, -1, 8, 1);
    wait_for(r, 0, 1);
    compute(r, 1, 3000);
    ranks_run(r);
    ENDS(r, 0, 3300);
    ENDS(r, 1, 3100);
    ranks_free(r);
}

/* A member depends on those that its operation names. Rank i comes at
 * 1000 (i + 1), and waits at once. */
static void dependencies(void)
{
    static const struct {
        unsigned what;
        int root;
        sw_ps_t ends[3];
    } kinds[] = {
        {SW_COLLECTIVE_BCAST, 1, {2900, 2900, 3900}},
        {SW_COLLECTIVE_REDUCE, 1, {1900, 3900, 3900}},
        {SW_COLLECTIVE_SCAN, -1, {1900, 2900, 3900}},
        {SW_COLLECTIVE_ALLTOALL, -1, {3900, 3900, 3900}},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        ranks_t *r = ranks_started(3, "0 0");
        for (uint32_t i = 0; i < 3; i++)
            member(r, i, kinds[k].what, kinds[k].root, 1000 * i + 1000, 0);
        ranks_run(r);
        for (uint32_t i = 0; i < 3; i++)
            ENDS(r, i, kinds[k].ends[i]);
        ranks_free(r);
    }
}

/* Several under way, completed in the other order; over several nodes the
 * parts do not hold. */
static void several(void)
{
    ranks_t *r = ranks_started(2, "0 0");
    for (uint32_t i = 0; i < 2; i++) {
        collective(r, i, SW_COLLECTIVE_ALLREDUCE, -1, 8, 1);
        collective(r, i, SW_COLLECTIVE_BCAST, 0, 8, 2);
        compute(r, i, 5000 * i);
        wait_for(r, i, 2);
        wait_for(r, i, 1);
    }
    ranks_run(r);
    ENDS(r, 0, 1000);
    ENDS(r, 1, 5400);
    ranks_free(r);

    r = ranks_started(2, "0 0");
    r->model.places.per_node = 1;
    member(r, 0, SW_COLLECTIVE_ALLREDUCE, -1, 0, 0);
    member(r, 1, SW_COLLECTIVE_ALLREDUCE, -1, 0, 5000);
    ranks_run(r);
    ENDS(r, 0, T);
    ENDS(r, 1, 5000);
    ranks_free(r);
}

int main(void)
{
    waits();
    others();
    attends_in_any_call();
    attends_in_tests();
    dependencies();
    several();
    return 0;
}
