/*
 * Every kernel that moves datatypes moves the message's bytes and no other, for
 * random pairs of shapes and every alignment: run by the processor, from the
 * source that GPUs run.
 */
#include "cases.h"
#include "processor.h"

#define MOST (1 << 18)
#define CASES 3000

static int used[SW_KERNEL_COUNT];

static char *noise(uint64_t bytes)
{
    char *at = aligned_alloc(64, (bytes + 64) / 64 * 64);
    MUST(at);
    for (uint64_t i = 0; i < bytes; i++)
        at[i] = (char)case_below(256);
    return at;
}

static void one(void)
{
    case_t c;
    sw_plan_t plan;
    case_make(&c, MOST);
    char *source = noise(c.source.span), *target = noise(c.target.span);
    char *expected = malloc(c.target.span);
    void *source_table = case_table(&c.source);
    void *target_table = case_table(&c.target);
    MUST(expected);
    memcpy(expected, target, c.target.span);
    case_copy(&c, source, expected);
    MUST(case_plan(&c, (uintptr_t)source, (uintptr_t)source_table,
                   (uintptr_t)target, (uintptr_t)target_table, SW_UNROLL,
                   &plan));
    used[plan.kernel]++;
    unsigned blocks = (unsigned)plan.tiles;
    if (blocks > 3 && case_below(2))
        blocks = 3;
    if (blocks)
        processor_launch(plan.kernel, blocks, &plan.move);
    if (memcmp(target, expected, c.target.span) != 0) {
        case_print(&c, &plan, stderr);
        MUST(!"the same bytes");
    }
    free(source);
    free(target);
    free(expected);
    free(source_table);
    free(target_table);
    case_end(&c);
}

/* The magic numbers, at the edges of the numbers that they divide. */
static void quotients(void)
{
    for (int i = 0; i < 200000; i++) {
        uint64_t by = 2 + (case_below(1u << 31) >> case_below(31)) % 2147483646;
        sw_shape_t line = {.kind = SW_SHAPE_NEST,
                           .base = 1,
                           .run = by,
                           .levels = 1,
                           .level = {{2, (int64_t)by + 1}}};
        sw_plan_t plan;
        MUST(sw_plan(&line, 0, &line, 0, 1, 1, SW_UNROLL, &plan));
        uint64_t q = case_below(INT32_MAX / by + 1), n = q * by;
        const sw_level_t *d = &plan.move.source.level[0];
        if (n <= INT32_MAX)
            MUST(sw_quotient_narrow((sw_u32_t)n, d) == q);
        if (n)
            MUST(sw_quotient_narrow((sw_u32_t)n - 1, d) == (n - 1) / by);
        MUST(sw_quotient_narrow(INT32_MAX, d) == INT32_MAX / by);
        MUST(
            sw_plan(&line, 0, &line, 0, 1, 1 | SW_WISH_WIDE, SW_UNROLL, &plan));
        n = case_below(INT64_MAX) / by * by;
        MUST(sw_quotient_wide(n, d) == n / by);
        MUST(sw_quotient_wide(INT64_MAX, d) == INT64_MAX / by);
        if (n)
            MUST(sw_quotient_wide(n - 1, d) == (n - 1) / by);
    }
}

int main(void)
{
    int kernels = 0;
    quotients();
    for (int i = 0; i < CASES; i++)
        one();
    for (int i = 0; i < SW_KERNEL_COUNT; i++)
        kernels += used[i] > 0;
    printf("%d of %d kernels\n", kernels, SW_KERNEL_COUNT);
    MUST(kernels > SW_KERNEL_COUNT / 2);
    return 0;
}
