/*
 * The lines of a model file about collectives: the last that fits counts. For a
 * wrong line the reader says what is wrong, in a sentence with its remedy.
 */
#include "ruled.h"

static const char *algorithm(sw_model_t *model, sw_op_collective_t what,
                             uint64_t bytes, uint32_t n)
{
    sw_plan_t made = plan(model, what, bytes, n);
    return made.algorithm ? made.algorithm->name : "";
}

static void the_last_that_fits(void)
{
    sw_model_t m;
    sw_model_init(&m, 4096);
    say(&m, "messages alltoall linear");
    say(&m, "messages alltoall bruck 0 256 8 1000");
    say(&m, "messages alltoall pairwise 100 300");
    MUST(!strcmp(algorithm(&m, C(ALLTOALL), 99, 8), "bruck"));
    MUST(!strcmp(algorithm(&m, C(ALLTOALL), 100, 8), "pairwise"));
    MUST(!strcmp(algorithm(&m, C(ALLTOALL), 300, 8), "pairwise"));
    MUST(!strcmp(algorithm(&m, C(ALLTOALL), 301, 8), "linear"));
    MUST(!strcmp(algorithm(&m, C(ALLTOALL), 0, 7), "linear"));
    MUST(!strcmp(algorithm(&m, C(ALLTOALL), 0, 1000), "bruck"));
    MUST(!strcmp(algorithm(&m, C(ALLTOALL), 0, 1001), "linear"));
    MUST(!strcmp(algorithm(&m, C(ALLTOALLV), 0, 8), ""));
    /* What has been planned is planned again after another line. */
    say(&m, "free alltoall");
    MUST(costs(plan(&m, C(ALLTOALL), 100, 8), 0, 0));
    say(&m, "messages all bruck 0 4096/n");
    MUST(!strcmp(algorithm(&m, C(ALLTOALL), 512, 8), "bruck"));
    MUST(costs(plan(&m, C(ALLTOALL), 513, 8), 0, 0));
    MUST(!strcmp(algorithm(&m, C(ALLGATHERV), 1, 4096), "bruck"));
    MUST(!strcmp(algorithm(&m, C(BCAST), 1, 8), ""));
    say(&m, "messages all ring 8192/n *");
    MUST(!strcmp(algorithm(&m, C(ALLGATHER), 1 << 10, 8), "ring"));
    MUST(!strcmp(algorithm(&m, C(ALLREDUCE), UINT64_MAX, 8), "ring"));
    MUST(!strcmp(algorithm(&m, C(ALLREDUCE), 8192 / 8 - 1, 8), ""));
    say(&m, "messages alltoall linear 0 4611686018427387904 2 "
            "4611686018427387904");
    MUST(!strcmp(algorithm(&m, C(ALLTOALL), 5, 4096), "linear"));
    sw_model_free(&m);
}

static void scales(void)
{
    sw_model_t m;
    sw_model_init(&m, 8);
    say(&m, "messages bcast binomial");
    say(&m, "scale all 0.5");
    say(&m, "scale bcast 3");
    MUST(plan(&m, C(BCAST), 1, 8).scale == 3);
    MUST(plan(&m, C(BARRIER), 0, 8).scale == 0.5);
    say(&m, "table reduce 8 16 100 40");
    say(&m, "measured reduce");
    MUST(costs(plan(&m, C(REDUCE), 16, 8), 50, 20));
    say(&m, "offload barrier 7 10 0");
    sw_plan_t made = plan(&m, C(BARRIER), 0, 8);
    MUST(costs(made, 15, 0));
    MUST(made.posting == 3500);
    say(&m, "scale all 0");
    MUST(costs(plan(&m, C(REDUCE), 16, 8), 0, 0));
    sw_model_free(&m);
}

static const struct {
    const char *line, *sentence;
} wrong[] = {
    {"", "no line of a model begins with ''"},
    {"magic alltoall", "no line of a model begins with 'magic'"},
    {"formula alltoall", "2 words do not make a line 'formula OP ALGORITHM "
                         "[MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]]'"},
    {"messages alltoall bruck 1 2 3 4 5",
     "8 words do not make a line "
     "'messages OP ALGORITHM [MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]]'"},
    {"messages alltoall bruck 1",
     "messages alltoall has 1 words where "
     "MIN_BYTES MAX_BYTES or MIN_BYTES MAX_BYTES MIN_RANKS MAX_RANKS may "
     "follow"},
    {"formula alltoall bruck 1 2 3",
     "formula alltoall has 3 words where "
     "MIN_BYTES MAX_BYTES or MIN_BYTES MAX_BYTES MIN_RANKS MAX_RANKS may "
     "follow"},
    {"free alltoal",
     "no collective is called 'alltoal'; name one of all, "
     "barrier, bcast, reduce, allreduce, reduce_scatter, "
     "reduce_scatter_block, scan, exscan, gather, gatherv, scatter, scatterv, "
     "allgather, allgatherv, alltoall, alltoallv, alltoallw, other, "
     "fence"},
    {"formula bcast bruck",
     "bcast has no algorithm 'bruck'; it has "
     "binomial, linear, scatter_allgather, chain, pipeline"},
    {"formula all magic", "no collective has an algorithm 'magic'"},
    {"formula bcast linear 1k 2",
     "'1k' is no number of bytes; give a whole "
     "number, such as 4096, or 4096/n for that of all members together, or "
     "* for no bound"},
    {"formula bcast linear 1 -2",
     "'-2' is no number of bytes; give a whole "
     "number, such as 4096, or 4096/n for that of all members together, or "
     "* for no bound"},
    {"formula bcast linear /n 2",
     "'/n' is no number of bytes; give a whole "
     "number, such as 4096, or 4096/n for that of all members together, or "
     "* for no bound"},
    {"formula bcast linear 0 99999999999999999999999999/n",
     "'99999999999999999999999999/n' is no number of bytes; give a whole "
     "number, such as 4096, or 4096/n for that of all members together, or "
     "* for no bound"},
    {"formula bcast linear 2 1", "from 2 to 1 there are no bytes; the smaller "
                                 "number comes first"},
    {"formula bcast linear 1 2 x 4", "'x' is no number of ranks; give a whole "
                                     "number, such as 64, or * for no bound"},
    {"formula bcast linear 1 2 4 3", "from 4 to 3 there are no ranks; the "
                                     "smaller number comes first"},
    {"formula bcast linear * 1", "from * to 1 there are no bytes; the smaller "
                                 "number comes first"},
    {"table bcast 2 8 1", "5 words do not make a line 'table OP RANKS BYTES "
                          "WAITING LEAVING [STATE]'"},
    {"table bcast 1 8 1 1", "'1' ranks cannot have been measured; give a "
                            "whole number of at least 2"},
    {"table bcast 4294967296 8 1 1",
     "'4294967296' ranks cannot have been "
     "measured; give a whole number of at least 2"},
    {"table bcast 2 8.5 1 1", "'8.5' is no number of bytes; give a whole "
                              "number, such as 4096"},
    {"table bcast 2 8 -1 1", "'-1' is no time; give ns, from 0 to 1e+12"},
    {"table bcast 2 8 1 nan", "'nan' is no time; give ns, from 0 to 1e+12"},
    {"measured", "1 words do not make a line 'measured OP [MIN_BYTES "
                 "MAX_BYTES [MIN_RANKS MAX_RANKS]]'"},
    {"measured bcast", "nothing was measured of bcast; its lines 'table' "
                       "stand before 'measured'"},
    {"measured all", "nothing was measured of all; its lines 'table' stand "
                     "before 'measured'"},
    {"offload bcast 1 2", "4 words do not make a line 'offload OP POSTING "
                          "ROUND NS_A_BYTE'"},
    {"offload bcast 1e3x 2 3", "'1e3x' is no time; give ns, from 0 to 1e+12"},
    {"offload bcast 1 inf 3", "'inf' is no time; give ns, from 0 to 1e+12"},
    {"offload bcast 1 2 z", "'z' is no speed; give ns a byte, from 0 to "
                            "1e+09"},
    {"free bcast 3", "3 words do not make a line 'free OP'"},
    {"scale bcast", "2 words do not make a line 'scale OP FACTOR'"},
    {"scale bcast -1", "'-1' is no factor; give a number from 0 to 1e9, such "
                       "as 0.5"},
};

static void wrong_ones(void)
{
    sw_model_t m;
    sw_model_init(&m, 8);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *said = line(&m, wrong[i].line);
        if (!said || strcmp(said, wrong[i].sentence))
            fprintf(stderr, "'%s': %s\n", wrong[i].line, said ? said : "right");
        MUST(said && !strcmp(said, wrong[i].sentence));
    }
    /* None of them has changed anything. */
    MUST(costs(plan(&m, C(BCAST), 8, 8), 0, 0));
    MUST(plan(&m, C(BCAST), 8, 8).scale == 1);
    MUST(line(&m, "measured bcast"));
    /* A word of any length is cut, and so is the sentence. */
    char tiny[16], *word[] = {"free", why + 1};
    memset(why, 'x', sizeof why - 1);
    MUST(!strcmp(sw_rules_line(&m, 2, word, tiny, sizeof tiny),
                 "no collective i"));
    sw_model_free(&m);
}

int main(void)
{
    the_last_that_fits();
    scales();
    wrong_ones();
    return 0;
}
