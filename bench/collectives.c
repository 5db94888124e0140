/*
 * collectives.c - the blocking collectives, each at each size.
 *
 * Buffers are warm and stay the same, unless calls come after a computation
 * (computing.h). operations.c makes the calls, and sampling.c measures the
 * cells.
 */
#include "computing.h"
#include "operations.h"

#include "node/control.h"

static int after_computing(const sw_operation_t *op, int calls, double *seconds)
{
    size_t block = (size_t)sw_blocks.count * sizeof(double);
    int error = 0;
    *seconds = 0;
    for (int i = 0; i < calls; i++) {
        double begin = sw_computing(
            sw_blocks.in, sw_blocks_sent(op->result) * block, sw_blocks.out,
            sw_blocks_received(op->result) * block);
        error |= op->call();
        *seconds += sw_now() - begin;
    }
    return error;
}

static int repeat(const void *what, int mode, int calls, double *seconds)
{
    const sw_operation_t *op = what;
    int error = 0;
    if (sw_run.plan->computing)
        return after_computing(op, calls, seconds);
    for (int i = 0; i < calls; i++)
        error |= op->call();
    return error;
}

/* Over nodes: the host's, ours, and ours where a way is forced on it. */
static const sw_sampling_way_t each_way[] = {
    {"host", SW_HOST, 0, 0},
    {"ours", SW_OURS, 0, 0},
    {"leaders", SW_OURS, SW_ACCELERATE_LEADERS, 0},
    {"lanes", SW_OURS, SW_ACCELERATE_LANES, 0},
};
enum { WAYS = sizeof each_way / sizeof *each_way };

static bool measure(const sw_operation_t *op, size_t size)
{
    const sw_bench_plan_t *plan = sw_run.plan;
    sw_cell_t cell = {.name = op->name,
                      .what = op,
                      .repeat = repeat,
                      .size = size,
                      .calls = plan->computing ? SW_CALLS_ALONE : 0,
                      .ways = plan->each_way ? each_way : NULL,
                      .way_count = WAYS,
                      .check = sw_operation_check,
                      .share = 1,
                      .counted = op->result != SW_NOTHING};
    return sw_measure(&cell);
}

bool sw_collectives(bool (*start)(void))
{
    const sw_bench_plan_t *plan = sw_run.plan;
    if (!sw_blocks_make() ||
        (plan->computing && !sw_computing_prepare(plan->swept)) || !start())
        return false;
    bool right = sw_operations_measure(plan->ops, measure);
    sw_blocks_drop();
    return right;
}
