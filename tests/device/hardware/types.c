/*
 * types.c - see types.h.
 */
#include "types.h"

#include "must.h"

type_t type_nest(const char *name, uint64_t run, int levels, int64_t count0,
                 int64_t stride0, int64_t count1, int64_t stride1)
{
    type_t t = {.name = name,
                .shape = {.kind = SW_SHAPE_NEST,
                          .run = run,
                          .levels = levels,
                          .level = {{count0, stride0}, {count1, stride1}}}};
    t.blocks = 1;
    for (int d = 0; d < levels; d++)
        t.blocks *= (uint64_t)t.shape.level[d].count;
    t.bytes = t.blocks * run;
    return t;
}

type_t type_vector(const char *name, uint64_t run, uint64_t bytes)
{
    return type_nest(name, run, 1, (int64_t)(bytes / run), (int64_t)(2 * run),
                     1, 0);
}

type_t type_list(const char *name, uint64_t run, uint64_t grain, bool mixed,
                 bool equal, uint64_t bytes, at_t table)
{
    static uint64_t state = 12345;
    uint64_t n = bytes / run;
    type_t t = {.name = name, .blocks = n};
    t.offset = malloc(n * sizeof *t.offset);
    t.length = malloc(n * sizeof *t.length);
    MUST(t.offset && t.length);
    for (uint64_t i = 0; i < n; i++) {
        t.offset[i] = (int64_t)(i * 2 * run);
        t.length[i] = equal ? run
                            : grain * (1 + random_from(&state) %
                                               (2 * run / grain - 1));
    }
    for (uint64_t i = n - 1; mixed && i; i--) {
        uint64_t j = random_from(&state) % (i + 1);
        int64_t offset = t.offset[i];
        t.offset[i] = t.offset[j];
        t.offset[j] = offset;
    }
    t.shape.kind = equal ? SW_SHAPE_LIST : SW_SHAPE_RUNS;
    sw_table_describe(t.offset, equal ? NULL : t.length, run, n, false,
                      &t.shape.table);
    t.bytes = t.shape.table.data;
    void *block = calloc(1, t.shape.table.bytes);
    MUST(block);
    sw_table_write(&t.shape.table, t.offset, equal ? NULL : t.length, block);
    CU(cuMemcpyHtoD_v2(table, block, t.shape.table.bytes));
    CU(cuCtxSynchronize());
    free(block);
    t.shape.block = table;
    return t;
}

static uint64_t root(uint64_t n)
{
    uint64_t r = 1;
    while ((2 * r) * (2 * r) <= n)
        r *= 2;
    return r;
}

type_t type_transpose(uint64_t bytes)
{
    int64_t n = (int64_t)root(bytes / 16);
    return type_nest("transpose", 16, 2, n, 16 * n, n, 16);
}

uint64_t type_block(const type_t *t, uint64_t i)
{
    if (t->offset)
        return (uint64_t)t->offset[i];
    uint64_t at = 0;
    for (int d = 0; d < t->shape.levels; d++) {
        uint64_t count = (uint64_t)t->shape.level[d].count;
        at += i % count * (uint64_t)t->shape.level[d].stride;
        i /= count;
    }
    return at;
}

uint64_t type_block_bytes(const type_t *t, uint64_t i)
{
    return t->offset ? t->length[i] : t->shape.run;
}

void type_end(type_t *t)
{
    free(t->offset);
    free(t->length);
}
