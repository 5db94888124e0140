/*
 * What a collective over several nodes costs, with figures worked out by hand:
 * rules for one node, tables of a shape, and the leaders' way.
 */
#include "ruled.h"
#include "vtime/model/spread.h"

/* Inside a node alpha is 100 ns and a byte 0.1 ns; between nodes 10 us and
 * 1 ns. */
static void model_of(sw_model_t *m, uint32_t ranks, uint32_t per_node)
{
    sw_model_init(m, ranks);
    m->places.per_node = per_node;
    m->links[SW_CLASS_DOMAIN].L = 100000;
    m->links[SW_CLASS_DOMAIN].G = 100;
    m->links[SW_CLASS_NETWORK].L = 10000000;
    m->links[SW_CLASS_NETWORK].G = 1000;
    say(m, "formula all linear");
    say(m, "formula barrier dissemination");
    say(m, "formula allreduce recursive_doubling");
    say(m, "formula bcast binomial");
    say(m, "formula reduce binomial");
}

static sw_plan_t among(const sw_model_t *m, sw_op_collective_t what,
                       uint64_t bytes, uint32_t n, const uint32_t *members)
{
    sw_plan_t made;
    sw_vop_t op = {
        .kind = SW_OP_COLLECTIVE, .what = (uint8_t)what, .bytes = bytes};
    sw_plan_make(m, &op, n, members, &made);
    return made;
}

static void spreads(void)
{
    static const struct {
        uint32_t n, members[6], nodes, most, first, last, other;
    } cases[] = {
        {6, {0, 1, 2, 3, 4, 5}, 2, 4, 0, 3, 5},
        {3, {9, 1, 8}, 2, 2, 9, 8, 1},
        {2, {3, 2}, 1, 2, 3, 2, 3},
        {3, {0, 4, 8}, 3, 1, 0, 0, 8},
    };
    sw_model_t m;
    sw_spread_t s;
    model_of(&m, 12, 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sw_spread_find(&m, cases[i].n, cases[i].members, &s);
        MUST(s.nodes == cases[i].nodes && s.most == cases[i].most);
        MUST(s.inside[0] == cases[i].first && s.inside[1] == cases[i].last);
        MUST(s.across[0] == cases[i].members[0] &&
             s.across[1] == cases[i].other);
    }
    sw_spread_find(&m, 12, NULL, &s);
    MUST(s.nodes == 3 && s.most == 4 && s.across[1] == 11);
    sw_model_free(&m);
}

/* A table for one node leaves communicators over several nodes alone. */
static void inside(void)
{
    sw_model_t m;
    model_of(&m, 8, 4);
    say(&m, "table allreduce 4 8 77 0");
    say(&m, "inside allreduce 0 4096 2 4");
    MUST(costs(among(&m, C(ALLREDUCE), 8, 4, NULL), 77, 0));
    const uint32_t second[] = {4, 7, 5, 6}, both[] = {0, 1, 4, 5};
    MUST(costs(among(&m, C(ALLREDUCE), 8, 4, second), 77, 0));
    MUST(costs(among(&m, C(ALLREDUCE), 8, 4, both), 2 * 10008, 0));
    MUST(costs(among(&m, C(ALLREDUCE), 5000, 4, NULL), 2 * 600, 0));
    sw_model_free(&m);
}

static void shapes(void)
{
    sw_model_t m;
    model_of(&m, 16, 4);
    say(&m, "span_table allreduce 2 4 8 500 0");
    say(&m, "span_table allreduce 2 4 128 2000 0");
    say(&m, "span_table allreduce 2 1 8 300 0");
    const uint32_t one_each[] = {0, 4}, uneven[] = {0, 1, 2, 3, 4};
    MUST(costs(among(&m, C(ALLREDUCE), 8, 8, NULL), 500, 0));
    MUST(costs(among(&m, C(ALLREDUCE), 32, 8, NULL), 1000, 0));
    MUST(costs(among(&m, C(ALLREDUCE), 8, 2, one_each), 300, 0));
    /* Five of eight: log2. */
    MUST(costs(among(&m, C(ALLREDUCE), 8, 5, uneven), 500 * 0.7739760, 0));
    /* No such shape: the formula. */
    MUST(costs(among(&m, C(ALLREDUCE), 8, 16, NULL), 4 * 10008, 0));
    /* As a rule it stands where its first line does. */
    say(&m, "scale allreduce 0.5");
    MUST(costs(among(&m, C(ALLREDUCE), 8, 8, NULL), 250, 0));
    say(&m, "free allreduce");
    say(&m, "span_table allreduce 2 4 1024 9000 0");
    MUST(costs(among(&m, C(ALLREDUCE), 8, 8, NULL), 0, 0));
    sw_model_free(&m);
}

static void leaders(void)
{
    sw_model_t m;
    model_of(&m, 16, 4);
    say(&m, "leaders all");
    /* Two rounds in a node, one between two, two in a node. */
    MUST(costs(among(&m, C(ALLREDUCE), 100, 8, NULL), 2 * 110 + 10100 + 2 * 110,
               0));
    MUST(costs(among(&m, C(BARRIER), 0, 16, NULL),
               2 * 100 + 2 * 10000 + 2 * 100, 0));
    /* The root's sends are free on this link but for their gap of G s. */
    MUST(costs(among(&m, C(BCAST), 100, 8, NULL), 10100 + 2 * 110,
               100 + 2 * 10));
    /* 1 MiB between the nodes; of the part inside, the last chunk's. */
    MUST(costs(among(&m, C(BCAST), 1 << 20, 8, NULL),
               10000 + 1048576 + 2 * (100 + 26214.4), 1048576 + 2 * 26214.4));
    /* Four blocks from a node; a member leaves when its leader has its own. */
    MUST(costs(among(&m, C(GATHER), 100, 8, NULL), 3 * 110 + 10400, 10));
    MUST(costs(among(&m, C(ALLGATHER), 100, 8, NULL), 3 * 110 + 10400 + 2 * 180,
               0));
    /* 8 blocks of each member up and down, 16 across. */
    MUST(costs(among(&m, C(ALLTOALL), 100, 8, NULL), 3 * 180 + 11600 + 3 * 180,
               0));
    /* Not within a node, nor with one member on each. */
    MUST(costs(among(&m, C(ALLREDUCE), 100, 4, NULL), 2 * 110, 0));
    const uint32_t one_each[] = {0, 4, 8, 12};
    MUST(costs(among(&m, C(ALLREDUCE), 100, 4, one_each), 2 * 10100, 0));
    MUST(line(&m, "leaders other") != NULL);
    sw_model_free(&m);
}

/* The usual way serves where the leaders' would take longer: here a message
 * inside a node takes five times as long as one between nodes. */
static void cheaper(void)
{
    sw_model_t m;
    model_of(&m, 8, 4);
    m.links[SW_CLASS_DOMAIN].L = 50000000;
    say(&m, "leaders barrier");
    MUST(costs(among(&m, C(BARRIER), 0, 8, NULL), 3 * 10000, 0));
    sw_model_free(&m);
}

/* The parts of the leaders' way are measured where tables have them. */
static void parts(void)
{
    sw_model_t m;
    model_of(&m, 8, 4);
    say(&m, "table reduce 4 8 70 0");
    say(&m, "table bcast 4 8 30 0");
    say(&m, "inside all");
    say(&m, "span_table allreduce 2 1 8 5000 0");
    say(&m, "leaders allreduce");
    MUST(costs(among(&m, C(ALLREDUCE), 8, 8, NULL), 70 + 5000 + 30, 0));
    /* Behind the leaders, the shape's own table counts. */
    say(&m, "span_table allreduce 2 4 8 4000 0");
    MUST(costs(among(&m, C(ALLREDUCE), 8, 8, NULL), 4000, 0));
    sw_model_free(&m);
}

static void mistakes(void)
{
    sw_model_t m;
    model_of(&m, 8, 4);
    MUST(line(&m, "span_table allreduce 1 4 8 1 1") != NULL);
    MUST(line(&m, "span_table allreduce 2 0 8 1 1") != NULL);
    MUST(line(&m, "span_table allreduce 2 4294967295 8 1 1") != NULL);
    MUST(line(&m, "span_table allreduce 2 4 x 1 1") != NULL);
    MUST(line(&m, "span_table allreduce 2 4 8 1") != NULL);
    MUST(line(&m, "inside scan") != NULL);
    sw_model_free(&m);
}

int main(void)
{
    spreads();
    inside();
    shapes();
    leaders();
    cheaper();
    parts();
    mistakes();
    return 0;
}
