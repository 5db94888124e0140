/*
 * Collectives between two groups. The tests cover which ranks a member waits
 * for, whatever it costs; the times, by hand; wrong calls; and the messages, of
 * which each has a sender and a receiver.
 */
#include "ranks.h"

#include "vtime/model/algorithm.h"

static void between(ranks_t *r, uint32_t rank, unsigned what, int first,
                    int root, uint64_t bytes, uint64_t sent, uint64_t received)
{
    put(r, rank,
        (sw_vop_t){.kind = SW_OP_COLLECTIVE,
                   .what = (uint8_t)what,
                   .tag = first,
                   .peer = root,
                   .bytes = bytes,
                   .sent = sent,
                   .received = received});
}

/* Ranks 0, 1 and 2, 3, 4; rank i comes at 100 (i + 1). Those beside the root
 * name no rank. */
static void leave(unsigned what, int root, const sw_ps_t *times)
{
    ranks_t *r = ranks_new(5);
    say(&r->model, "free all");
    for (uint32_t i = 0; i < 5; i++) {
        bool beside = root >= 0 && (i < 2) == (root < 2) && (int)i != root;
        compute(r, i, 100 * (i + 1));
        between(r, i, what, 2, beside ? -1 : root, 8, 8, 8);
    }
    ranks_run(r);
    for (uint32_t i = 0; i < 5; i++)
        ENDS(r, i, times[i]);
    MUST(r->result.calls[what] == 5);
    ranks_free(r);
}

#define TIMES(...)    \
    (const sw_ps_t[]) \
    {                 \
        __VA_ARGS__   \
    }

static void dependencies(void)
{
    leave(SW_COLLECTIVE_BARRIER, -1, TIMES(500, 500, 500, 500, 500));
    leave(SW_COLLECTIVE_ALLTOALLW, -1, TIMES(500, 500, 500, 500, 500));
    leave(SW_COLLECTIVE_BCAST, 0, TIMES(100, 200, 300, 400, 500));
    leave(SW_COLLECTIVE_BCAST, 4, TIMES(500, 500, 300, 400, 500));
    leave(SW_COLLECTIVE_SCATTERV, 3, TIMES(400, 400, 300, 400, 500));
    leave(SW_COLLECTIVE_REDUCE, 0, TIMES(500, 200, 300, 400, 500));
    leave(SW_COLLECTIVE_GATHER, 2, TIMES(100, 200, 300, 400, 500));
    leave(SW_COLLECTIVE_GATHERV, 1, TIMES(100, 500, 300, 400, 500));
}

/* alpha = 130, beta = 1; groups of 2 and 4 on ranks that are not in order. */
static void costs(void)
{
    static const uint32_t members[] = {5, 0, 4, 1, 3, 2};
    ranks_t *r = ranks_linked(6);
    context(r, 3, 6, members);
    for (uint32_t i = 0; i < 6; i++) {
        put(r, members[i],
            (sw_vop_t){.kind = SW_OP_COLLECTIVE,
                       .what = SW_COLLECTIVE_ALLREDUCE,
                       .context = 3,
                       .tag = 2,
                       .peer = -1,
                       .bytes = 10,
                       .sent = 10,
                       .received = 10});
    }
    ranks_run(r);
    /* reduce among the others, across, bcast here. */
    sw_ps_t step = 130 + 10;
    ENDS(r, 5, 2 * step + step + step);
    ENDS(r, 0, 4 * step);
    ENDS(r, 4, step + step + 2 * step);
    ENDS(r, 2, 4 * step);
    ranks_free(r);

    /* The whole is scaled; a part's own factor counts for nothing. */
    r = ranks_linked(2);
    say(&r->model, "scale bcast 0.5");
    say(&r->model, "free reduce");
    for (uint32_t i = 0; i < 2; i++)
        between(r, i, SW_COLLECTIVE_BCAST, 1, 0, 10, i ? 0 : 10, i ? 10 : 0);
    for (uint32_t i = 0; i < 2; i++)
        between(r, i, SW_COLLECTIVE_ALLREDUCE, 1, -1, 10, 10, 10);
    ranks_run(r);
    ENDS(r, 0, 70 + 140);
    ENDS(r, 1, 70 + 140);
    ranks_free(r);

    /* Offloaded: as among all. */
    r = ranks_linked(4);
    say(&r->model, "offload barrier 1 2 3");
    for (uint32_t i = 0; i < 4; i++)
        between(r, i, SW_COLLECTIVE_BARRIER, 3, -1, 0, 0, 0);
    ranks_run(r);
    ENDS(r, 0, 1000 + 2 * 2000);
    ranks_free(r);
}

static void wrong(unsigned what, int first, int root, int other_first,
                  int other_root)
{
    char text[200];
    ranks_t *r = ranks_new(3);
    between(r, 0, what, first, root, 8, 8, 8);
    between(r, 1, what, other_first, other_root, 8, 8, 8);
    MUST(ranks_try(r, 0) == SW_ENGINE_WRONG);
    sw_engine_stuck(r->engine, 1, text, sizeof text);
    ranks_free(r);
}

static void wrong_ones(void)
{
    wrong(SW_COLLECTIVE_BARRIER, 1, -1, 2, -1);
    wrong(SW_COLLECTIVE_BARRIER, 1, -1, 0, -1);
    wrong(SW_COLLECTIVE_BARRIER, 3, -1, 3, -1);
    wrong(SW_COLLECTIVE_BARRIER, -1, -1, -1, -1);
    wrong(SW_COLLECTIVE_SCAN, 1, -1, 1, -1);
    wrong(SW_COLLECTIVE_OTHER, 1, -1, 1, -1);
    wrong(SW_COLLECTIVE_BCAST, 1, 1, 1, 0);
    wrong(SW_COLLECTIVE_BCAST, 2, 1, 2, 1); /* in the own group */

    ranks_t *r = ranks_new(3); /* the root never comes */
    between(r, 2, SW_COLLECTIVE_BCAST, 2, 0, 8, 0, 8);
    MUST(ranks_try(r, 0) == SW_ENGINE_DEADLOCK);
    ranks_free(r);
}

/* Each message of the algorithm meets its receive, in order. */
static void messages(unsigned what, uint32_t n, uint32_t first, uint32_t root)
{
    ranks_t *r = ranks_linked(n);
    uint32_t sent = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool beside = root != SW_STEP_NOBODY && (i < first) == (root < first) &&
                      i != root;
        sw_call_t call = {.what = (sw_op_collective_t)what,
                          .n = n,
                          .bytes = 7,
                          .first = first,
                          .root = beside ? SW_STEP_NOBODY : root};
        sw_step_t step;
        for (uint32_t k = 0;
             sw_algorithm_step(&sw_between_linear, &call, i, k, &step); k++) {
            if (step.from != SW_STEP_NOBODY) {
                MUST((step.from < first) != (i < first));
                irecv(r, i, (int)step.from, 0, 1);
            }
            if (step.to != SW_STEP_NOBODY) {
                sent++;
                MUST(step.to < n && (step.to < first) != (i < first));
                send(r, i, step.to, 0, step.sent);
            }
            wait_for(r, i, 1);
        }
    }
    ranks_run(r);
    uint32_t others = root < first ? n - first : first;
    MUST(sent == (root != SW_STEP_NOBODY ? others : 2 * first * (n - first)));
    MUST(r->result.messages == sent);
    ranks_free(r);
}

int main(void)
{
    dependencies();
    costs();
    wrong_ones();
    for (uint32_t n = 2; n < 9; n++)
        for (uint32_t first = 1; first < n; first++) {
            messages(SW_COLLECTIVE_ALLTOALL, n, first, SW_STEP_NOBODY);
            for (uint32_t root = 0; root < n; root++) {
                messages(SW_COLLECTIVE_SCATTER, n, first, root);
                messages(SW_COLLECTIVE_REDUCE, n, first, root);
            }
        }
    return 0;
}
