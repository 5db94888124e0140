/*
 * check_reductions.c - the kernels that reduce on the GPU against the
 * processor's own, for vectors at random, bit for bit.
 */
#include "gpu.h"

#include "../reductions.h"

#define SOURCES 9
#define MOST (1 << 20) /* bytes of a vector */
#define ROOM ((size_t)MOST + 64)

static at_t device[SOURCES + 1];
static char *host[SOURCES + 1], *result;
static handle_t function[SW_REDUCE_COUNT];

static bool one(handle_t module)
{
    static char room[16 * SW_REDUCE_BLOCK];
    size_t k = reduction_below(SW_REDUCE_COUNT);
    size_t bytes = sw_type_bytes(reductions[k].type);
    size_t n = 1 + reduction_below(reduction_below(4) ? 5000 : MOST / bytes);
    int sources = 1 + (int)reduction_below(SOURCES);
    sw_order_t order = reduction_below(2) ? SW_ORDER_LINE : SW_ORDER_TREE;
    sw_reduce_t r = {.n = n,
                     .sources = sources,
                     .pairs = sw_order_pairs(order, sources),
                     .line = order == SW_ORDER_LINE};
    const void *in[SOURCES];
    for (int i = 0; i < sources; i++) {
        size_t at = bytes * reduction_below(8);
        reduction_fill(host[i], reductions[k].type, n + 7);
        CU(cuMemcpyHtoD_v2(device[i], host[i], (n + 7) * bytes));
        in[i] = host[i] + at;
        r.source[i] = device[i] + at;
    }
    r.target = device[SOURCES];
    sw_reduce_many(sw_reduce_kernel(reductions[k].op, reductions[k].type),
                   bytes, order, host[SOURCES], in, sources, n, room);
    char name[64];
    snprintf(name, sizeof name, "sw_reduce_%s_%s", sw_op_name(reductions[k].op),
             sw_type_name(reductions[k].type));
    if (!function[k])
        function[k] = gpu_function(module, name);
    size_t tile = SW_REDUCE_THREADS * SW_REDUCE_UNROLL;
    size_t blocks = (n + tile - 1) / tile;
    if (reduction_below(2) && blocks > 3)
        blocks = 3;
    /* A copy from pageable memory may still be under way when it returns. */
    CU(cuCtxSynchronize());
    void *parameter[] = {&r};
    CU(cuLaunchKernel(function[k], (unsigned)blocks, 1, 1, SW_REDUCE_THREADS, 1,
                      1, 0, gpu_stream, parameter, NULL));
    CU(cuStreamSynchronize(gpu_stream));
    CU(cuMemcpyDtoH_v2(result, device[SOURCES], n * bytes));
    bool good = reduction_equal(k, result, host[SOURCES], n);
    if (!good)
        printf("WRONG: %s, %d sources, %zu elements, order %d\n", name, sources,
               n, (int)order);
    return good;
}

void mode_reductions(double seconds)
{
    int cases = 0, wrong = 0, n = 0;
    double until = gpu_now() + seconds * 1e6;
    gpu_start();
    handle_t module = gpu_module("reduce");
    if (!module)
        exit(1);
    for (int i = 0; i <= SOURCES; i++) {
        CU(cuMemAlloc_v2(&device[i], ROOM));
        MUST(host[i] = malloc(ROOM));
    }
    MUST(result = malloc(ROOM));
    while (gpu_now() < until && wrong < 20) {
        wrong += !one(module);
        cases++;
    }
    for (int i = 0; i < SW_REDUCE_COUNT; i++)
        n += function[i] != NULL;
    printf("check of reductions: %d, %d wrong, %d of %d kernels\n", cases,
           wrong, n, SW_REDUCE_COUNT);
    if (gpu_json)
        fprintf(gpu_json,
                "{\"check\": \"reductions\", \"messages\": %d, "
                "\"wrong\": %d, \"kernels\": %d}\n",
                cases, wrong, n);
}
