/*
 * kernel.c - which kernel serves: the tables of the instruction sets, and the
 * choice among them.
 *
 * The first call chooses and keeps a plain table index. An ifunc would not do:
 * its resolvers run before a preloaded library or a sanitizer is ready. Members
 * of a node run on the same processor and so choose alike. If they did not, the
 * bits would still be the same (kernel.h).
 */
#include "kernel.h"

#include <string.h>

typedef sw_reduce_func_t table_t[SW_OP_COUNT][SW_TYPE_COUNT];

extern const table_t sw_kernels_base;
#if defined(__x86_64__)
extern const table_t sw_kernels_avx2, sw_kernels_avx512;
#endif

static const table_t *const tables[SW_ISA_COUNT] = {
    [SW_ISA_BASE] = &sw_kernels_base,
#if defined(__x86_64__)
    [SW_ISA_AVX2] = &sw_kernels_avx2,
    [SW_ISA_AVX512] = &sw_kernels_avx512,
#endif
};

static _Atomic int chosen = -1;

/* Can this machine run the variant? */
static bool runs(sw_isa_t isa)
{
    if (isa == SW_ISA_BASE)
        return true;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (isa == SW_ISA_AVX2)
        return __builtin_cpu_supports("avx2");
    if (isa == SW_ISA_AVX512)
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return false;
}

/* Does it run well? The first processors with AVX-512 (Skylake, Cascade Lake)
 * lower their clock for 64-byte vectors, which the program would pay for
 * after the collective. They lack VBMI2; their successors and AMD's have it. */
static sw_isa_t best(void)
{
#if defined(__x86_64__)
    if (runs(SW_ISA_AVX512) && __builtin_cpu_supports("avx512vbmi2"))
        return SW_ISA_AVX512;
    if (runs(SW_ISA_AVX2))
        return SW_ISA_AVX2;
#endif
    return SW_ISA_BASE;
}

sw_isa_t sw_reduce_isa(void)
{
    /* Threads that race here compute the same value. */
    int isa = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (sw_unlikely(isa < 0)) {
        isa = (int)best();
        atomic_store_explicit(&chosen, isa, memory_order_relaxed);
    }
    return (sw_isa_t)isa;
}

bool sw_reduce_use_isa(sw_isa_t isa)
{
    if ((unsigned)isa >= SW_ISA_COUNT || !runs(isa))
        return false;
    atomic_store_explicit(&chosen, (int)isa, memory_order_relaxed);
    return true;
}

sw_reduce_func_t sw_reduce_kernel(sw_op_t op, sw_type_t type)
{
    if ((unsigned)op >= SW_OP_COUNT || (unsigned)type >= SW_TYPE_COUNT)
        return NULL;
    /* The scalar types are in the base table alone. */
    sw_reduce_func_t f = (*tables[sw_reduce_isa()])[op][type];
    return f ? f : sw_kernels_base[op][type];
}

size_t sw_type_bytes(sw_type_t type)
{
    static const uint8_t bytes[SW_TYPE_COUNT] = {
#define X(name, element) [SW_##name] = sizeof(element),
        SW_TYPES(X)
#undef X
    };
    return bytes[type];
}

const char *sw_type_name(sw_type_t type)
{
    static const char *const names[SW_TYPE_COUNT] = {
#define X(name, element) #name,
        SW_TYPES(X)
#undef X
    };
    return names[type];
}

const char *sw_op_name(sw_op_t op)
{
    static const char *const names[SW_OP_COUNT] = {
#define X(name) #name,
        SW_OPS(X)
#undef X
    };
    return names[op];
}

const char *sw_isa_name(sw_isa_t isa)
{
#if defined(__x86_64__)
    static const char *const names[] = {"SSE2", "AVX2", "AVX-512"};
#else
    static const char *const names[] = {"baseline", "", ""};
#endif
    return names[isa];
}

/* One block: m elements at byte `at` of all. stack[k] is an input, or room k.
 * Only the last merge of all stores to `to`: until then every input's block, of
 * which `to` may be one, is whole. */
static void reduce_block(sw_reduce_func_t f, sw_order_t order, char *to,
                         const void *const *in, int count, size_t at,
                         size_t m, char *room)
{
    const char *stack[SW_ORDER_DEEPEST];
    int pairs = sw_order_pairs(order, count), items = count - pairs, top = 0;
    for (int item = 0, next = 0; item < items; item++) {
        const char *x = (const char *)in[next++] + at;
        if (item < pairs) {
            char *pair = room + (size_t)top * SW_REDUCE_BLOCK;
            f(pair, x, (const char *)in[next++] + at, m);
            x = pair;
        }
        for (int k = sw_order_merges(order, item); k > 0; k--) {
            bool last = --top == 0 && item == items - 1;
            char *sum = last ? to + at : room + (size_t)top * SW_REDUCE_BLOCK;
            f(sum, stack[top], x, m);
            x = sum;
        }
        stack[top++] = x;
    }
}

void sw_reduce_many(sw_reduce_func_t f, size_t elem, sw_order_t order,
                    void *to, const void *const *in, int count, size_t n,
                    char *room)
{
    if (count == 1) {
        if (to != in[0])
            memcpy(to, in[0], n * elem);
        return;
    }
    if (count == 2) {
        f(to, in[0], in[1], n);
        return;
    }
    size_t step = SW_REDUCE_BLOCK / elem;
    for (size_t i = 0; i < n; i += step)
        reduce_block(f, order, to, in, count, i * elem, sw_min(step, n - i),
                     room);
}
