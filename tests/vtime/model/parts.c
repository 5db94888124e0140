/*
 * The parts of a nonblocking collective: between sizes by lines in the
 * logarithm of bytes, in parts of whatever time the other lines give.
 */
#include "ruled.h"

static bool parts(sw_plan_t plan, double start, double shared, double own)
{
    double off[] = {start - (double)plan.start / 1e3,
                    shared - (double)plan.started.shared / 1e3,
                    own - (double)plan.started.own / 1e3};
    bool so = plan.has_started;
    for (int i = 0; i < 3; i++)
        so &= off[i] < 0.002 && off[i] > -0.002;
    if (!so)
        fprintf(stderr, "%.3f %.3f %.3f\n", plan.start / 1e3,
                plan.started.shared / 1e3, plan.started.own / 1e3);
    return so;
}

static void between_sizes(void)
{
    sw_model_t m;
    sw_model_init(&m, 2);
    say(&m, "table bcast 2 8 100 100");
    say(&m, "measured bcast");
    MUST(!plan(&m, C(BCAST), 8, 2).has_started);
    say(&m, "started bcast 1024 0.2 0.4 0.6 0.5 0");
    say(&m, "started bcast 16 0.1 0.2 0.4 0 1");
    MUST(parts(plan(&m, C(BCAST), 1, 2), 10, 20, 40));
    MUST(parts(plan(&m, C(BCAST), 16, 2), 10, 20, 40));
    MUST(parts(plan(&m, C(BCAST), 128, 2), 15, 30, 50));
    MUST(parts(plan(&m, C(BCAST), 4096, 2), 20, 40, 60));
    MUST(plan(&m, C(BCAST), 64, 2).started.held);
    MUST(!plan(&m, C(BCAST), 256, 2).started.held);
    MUST(plan(&m, C(BCAST), 128, 2).started.aside == 0.25f);
    /* The last of a size counts, and factors count, too. */
    say(&m, "started all 16 1 1 1 0 0");
    say(&m, "scale bcast 2");
    MUST(parts(plan(&m, C(BCAST), 16, 2), 200, 200, 200));
    /* Without a table: in parts of a formula, which here takes no time. */
    MUST(parts(plan(&m, C(REDUCE), 16, 2), 0, 0, 0));
    sw_model_free(&m);
}

/* Only inside a node, and not for what says itself how it goes on. */
static void not_for(void)
{
    static const char *const lines[] = {"free bcast", "offload bcast 1 1 1",
                                        "messages bcast binomial"};
    sw_model_t m;
    for (int i = 0; i < 3; i++) {
        sw_model_init(&m, 4);
        say(&m, "started all 16 1 1 1 0 0");
        MUST(plan(&m, C(BCAST), 16, 4).has_started);
        say(&m, lines[i]);
        MUST(!plan(&m, C(BCAST), 16, 4).has_started);
        sw_model_free(&m);
    }
    sw_model_init(&m, 4);
    m.places.per_node = 2;
    say(&m, "started all 16 1 1 1 0 0");
    MUST(plan(&m, C(BCAST), 16, 2).has_started);
    MUST(!plan(&m, C(BCAST), 16, 4).has_started);
    sw_model_free(&m);
}

static void wrong(void)
{
    static const char *const lines[][2] = {
        {"started bcast -1 1 1 1 0 0", "no number of bytes"},
        {"started bcast 1 1 x 1 0 0", "'x' is no part"},
        {"started bcast 1 1 1 1 1.5 0", "a number from 0 to 1"},
        {"started bcast 1 1 1", "started OP BYTES START"},
    };
    sw_model_t m;
    sw_model_init(&m, 2);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *found = line(&m, lines[i][0]);
        MUST(found && strstr(found, lines[i][1]));
    }
    sw_model_free(&m);
}

int main(void)
{
    between_sizes();
    not_for();
    wrong();
    return 0;
}
