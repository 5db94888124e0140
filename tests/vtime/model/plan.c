/*
 * What a collective costs, with figures worked out by hand: formulas over the
 * link of the members farthest apart, the cost for members that wait for none,
 * tables, and offloading.
 */
#include "ruled.h"

/* alpha = 100 + 700 + 200 = 1000 ns; beta = 2 ns a byte (the receiver's). */
static void link_of(sw_model_link_t *link, int factor)
{
    link->o_send = factor * 100000;
    link->o_recv = factor * 200000;
    link->L = factor * 700000;
    link->g = factor * 50000;
    link->G = factor * 1000.0;
    link->O_send = factor * 500.0;
    link->O_recv = factor * 2000.0;
}

static void model_of(sw_model_t *m, uint32_t ranks)
{
    sw_model_init(m, ranks);
    link_of(&m->links[SW_CLASS_DOMAIN], 1);
    link_of(&m->links[SW_CLASS_NODE], 2);
    link_of(&m->links[SW_CLASS_NETWORK], 10);
    m->reduce = 250; /* 0.25 ns a byte */
}

static void formulas(void)
{
    sw_model_t m;
    model_of(&m, 64);
    say(&m, "formula all linear");
    say(&m, "formula barrier dissemination");
    say(&m, "formula allreduce recursive_doubling");
    MUST(costs(plan(&m, C(BARRIER), 0, 5), 3000, 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 100, 8), 3 * (1000 + 200 + 25), 0));
    MUST(costs(plan(&m, C(ALLTOALL), 100, 8), 7 * 1200, 0));
    /* The root's sends: 100 + 0.5 s each, above the gap of max(50, s). */
    MUST(costs(plan(&m, C(BCAST), 100, 8), 7 * 1200, 7 * 150));
    MUST(costs(plan(&m, C(BCAST), 1000, 8), 7 * 3000, 7 * 1000));
    /* One send of each of the others. */
    MUST(costs(plan(&m, C(REDUCE), 100, 8), 7 * 1225, 150));
    MUST(costs(plan(&m, C(GATHER), 100, 8), 7 * 1200, 150));
    MUST(costs(plan(&m, C(SCATTER), 100, 8), 7 * 1200, 7 * 150));
    /* The first of a scan sends. */
    MUST(costs(plan(&m, C(SCAN), 100, 8), 7 * 1225, 150));
    say(&m, "formula bcast binomial");
    MUST(costs(plan(&m, C(BCAST), 100, 8), 3 * 1200, 3 * 150));
    say(&m, "formula reduce binomial");
    MUST(costs(plan(&m, C(REDUCE), 100, 7), 3 * 1225, 150));
    /* A leaf of Rabenseifner's has halves to exchange, too: B/2, B/4, then
     * its part goes up. */
    say(&m, "formula reduce rabenseifner");
    MUST(costs(plan(&m, C(REDUCE), 400, 4), 4000 + 300 * 4.25,
               2000 + 300 * 2.25 + 150));
    MUST(costs(plan(&m, C(BCAST), 100, 1), 0, 0));
    sw_model_free(&m);
}

static void farthest(void)
{
    sw_model_t m;
    model_of(&m, 64);
    m.places = (sw_model_places_t){.per_node = 8, .per_domain = 4};
    const struct {
        uint32_t n, members[4];
        double rounds;
    } cases[] = {
        {2, {0, 3}, 1},         {2, {0, 4}, 2},       {2, {7, 8}, 10},
        {4, {0, 63, 1, 2}, 20}, {4, {4, 5, 6, 7}, 2}, {4, {9, 8, 12, 10}, 4},
        {3, {60, 59, 1}, 20},
    };
    say(&m, "formula barrier dissemination");
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            sw_plan_t made;
            sw_vop_t op = {.what = C(BARRIER)};
            sw_plan_make(&m, &op, cases[i].n, cases[i].members, &made);
            MUST(costs(made, 1000 * cases[i].rounds, 0));
        }
    /* The same, rank by rank. */
    m.places.node = malloc(64 * sizeof(uint32_t));
    m.places.domain = malloc(64 * sizeof(uint32_t));
    MUST(m.places.node && m.places.domain);
    for (uint32_t rank = 0; rank < 64; rank++) {
        m.places.node[rank] = rank / 8;
        m.places.domain[rank] = rank / 4;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sw_plan_t made;
        sw_vop_t op = {.what = C(BARRIER)};
        sw_plan_make(&m, &op, cases[i].n, cases[i].members, &made);
        MUST(costs(made, 1000 * cases[i].rounds, 0));
    }
    MUST(costs(plan(&m, C(BARRIER), 0, 8), 6000, 0));
    /* What was planned of another link is not taken for this one. */
    m.links[SW_CLASS_NETWORK].L = 0;
    sw_vop_t op = {.what = C(BARRIER)};
    sw_plan_t made;
    sw_plan_make(&m, &op, 2, (uint32_t[]){7, 8}, &made);
    MUST(costs(made, 3000, 0));
    sw_model_free(&m);
}

/* Where no rule fits. */
static void usual(void)
{
    sw_model_t m;
    model_of(&m, 4096);
    MUST(costs(plan(&m, C(OTHER), 0, 9), 4000, 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 2048, 16), 4 * (1000 + 2.25 * 2048), 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 4096, 16), 8000 + 3840 * 4.25, 0));
    MUST(costs(plan(&m, C(ALLTOALL), 256, 8), 3000 + 3 * 4 * 512, 0));
    MUST(costs(plan(&m, C(ALLTOALL), 257, 8), 7 * (1000 + 514), 0));
    MUST(costs(plan(&m, C(ALLGATHER), 1, 6), 3000 + 10, 0));
    MUST(costs(plan(&m, C(ALLGATHER), 1 << 20, 6), 5000 + 10. * (1 << 20), 0));
    say(&m, "free barrier");
    MUST(costs(plan(&m, C(ALLTOALL), 257, 8), 7 * (1000 + 514), 0));
    sw_model_free(&m);
}

/* A measured link: what is above an empty message, by the bytes. */
static void measured_link(void)
{
    sw_model_t m;
    sw_model_init(&m, 8);
    sw_model_link_t *link = &m.links[SW_CLASS_DOMAIN];
    link->points[0] = malloc(2 * sizeof *link->points[0]);
    MUST(link->points[0]);
    link->points[0][0] = (sw_link_point_t){0, 10000, 80000, 5000, 10000};
    link->points[0][1] = (sw_link_point_t){100, 20000, 160000, 50000, 20000};
    link->point_count[0] = 2;
    say(&m, "formula bcast binomial");
    MUST(costs(plan(&m, C(BCAST), 100, 4), 2 * 200, 2 * 50));
    MUST(costs(plan(&m, C(BCAST), 0, 4), 2 * 100, 2 * 10));
    MUST(costs(plan(&m, C(BCAST), 50, 4), 2 * 150, 2 * 27.5));
    sw_model_free(&m);
}

static void tables(void)
{
    sw_model_t m;
    sw_model_init(&m, 4096);
    say(&m, "table allreduce 16 64 400 0");
    say(&m, "table allreduce 4 1024 640 0");
    say(&m, "table allreduce 4 64 77777 0");
    say(&m, "table allreduce 4 64 160 0"); /* the last counts */
    say(&m, "table allreduce 4 0 100 0");
    say(&m, "table allreduce 16 1024 1600 0");
    say(&m, "measured allreduce");
    /* As measured. */
    MUST(costs(plan(&m, C(ALLREDUCE), 0, 4), 100, 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 64, 4), 160, 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 1024, 16), 1600, 0));
    /* Half way between 64 and 1024 in logarithms is 256; of 160 and 640, 320;
     * 128 is a quarter of the way. */
    MUST(costs(plan(&m, C(ALLREDUCE), 256, 4), 320, 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 128, 4), 160 * 1.41421356, 0));
    /* Of nothing, as of one byte: 8 is half way from there to 64. */
    MUST(costs(plan(&m, C(ALLREDUCE), 1, 4), 100, 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 8, 4), 126.491106, 0));
    /* Below the smallest, above the largest: 480 in 960 bytes, 0.5 a byte. */
    MUST(costs(plan(&m, C(ALLREDUCE), 3, 16), 400, 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 3024, 4), 1640, 0));
    /* 8 is half way between 4 and 16; both at 64, and at 256. */
    MUST(costs(plan(&m, C(ALLREDUCE), 64, 8), 252.982213, 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 256, 8), 505.964426, 0));
    /* Trees: log2 n. */
    MUST(costs(plan(&m, C(ALLREDUCE), 64, 2), 80, 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 64, 4096), 1200, 0));
    /* Blocks: n - 1. A single size says nothing of others. A time of 0: on
     * the line. */
    say(&m, "table gather 5 1024 4000 0");
    say(&m, "table gather 5 64 4000 100");
    say(&m, "table alltoall 3 64 800 800");
    say(&m, "measured all 0 4096 2 100");
    MUST(costs(plan(&m, C(GATHER), 256, 5), 4000, 50));
    MUST(costs(plan(&m, C(GATHER), 4096, 9), 8000, 0));
    MUST(costs(plan(&m, C(GATHER), 10, 2), 1000, 25));
    MUST(costs(plan(&m, C(ALLTOALL), 64, 2), 400, 400));
    MUST(costs(plan(&m, C(ALLTOALL), 4096, 5), 1600, 1600));
    /* It never leaves the two points between which it lies. */
    for (uint32_t n = 4; n <= 16; n++) {
        sw_ps_t before = 0;
        for (uint64_t bytes = 0; bytes <= 1100; bytes++) {
            sw_ps_t now = plan(&m, C(ALLREDUCE), bytes, n).waiting;
            MUST(now >= before);
            before = now;
        }
    }
    /* Out of range: nothing overflows. */
    MUST(plan(&m, C(ALLREDUCE), UINT64_MAX, 4000).waiting > 0);
    sw_model_free(&m);
}

static void offloaded(void)
{
    sw_model_t m;
    model_of(&m, 64);
    say(&m, "offload all 300 500 0.5");
    MUST(costs(plan(&m, C(BARRIER), 0, 9), 2000, 0));
    MUST(costs(plan(&m, C(ALLREDUCE), 100, 8), 1550, 0));
    MUST(costs(plan(&m, C(BCAST), 100, 8), 1550, 50));
    MUST(costs(plan(&m, C(REDUCE), 100, 8), 1550, 50));
    MUST(costs(plan(&m, C(EXSCAN), 100, 8), 1550, 50));
    MUST(costs(plan(&m, C(ALLTOALL), 100, 8), 1850, 0));
    MUST(costs(plan(&m, C(GATHER), 100, 8), 1850, 50));
    MUST(costs(plan(&m, C(SCATTERV), 100, 8), 1850, 350));
    MUST(plan(&m, C(ALLTOALL), 100, 8).posting == 300000);
    MUST(plan(&m, C(ALLTOALL), 100, 1).posting == 0);
    sw_model_free(&m);
}

/* Of an alltoallv, the member with the most is waited for. */
static void uneven(void)
{
    sw_model_t m;
    model_of(&m, 64);
    say(&m, "formula all pairwise");
    sw_vop_t op = {
        .what = C(ALLTOALLV), .bytes = 100, .sent = 800, .received = 4000};
    sw_plan_t made;
    sw_plan_make(&m, &op, 8, NULL, &made);
    MUST(costs(made, 7 * 2000, 0));
    op.what = C(ALLTOALL);
    sw_plan_make(&m, &op, 8, NULL, &made);
    MUST(costs(made, 7 * 1200, 0));
    sw_model_free(&m);
}

int main(void)
{
    formulas();
    farthest();
    usual();
    measured_link();
    tables();
    offloaded();
    uneven();
    return 0;
}
