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

/* One block of all inputs. Only the last step of each order stores to its
 * result: until then every input's block, of which the result's may be one, is
 * whole. */
typedef struct {
    sw_reduce_func_t f;
    const char *const *in;
    int count, pairs;
    size_t at, m; /* byte of the inputs; elements */
} block_t;

static void in_line(const block_t *b, char *to, char *room)
{
    const char *const *in = b->in;
    b->f(room, in[0] + b->at, in[1] + b->at, b->m);
    for (int k = 2; k < b->count - 1; k++)
        b->f(room, room, in[k] + b->at, b->m);
    b->f(to, room, in[b->count - 1] + b->at, b->m);
}

/* An item: an input, or a pair, combined in `room`. */
static inline const char *item(const block_t *b, int i, char *room)
{
    if (sw_likely(i >= b->pairs))
        return b->in[i + b->pairs] + b->at;
    b->f(room, b->in[2 * i] + b->at, b->in[2 * i + 1] + b->at, b->m);
    return room;
}

/* Combines `items` items, a power of two, into `to`: `room` itself, or memory
 * that may be an input's. */
static void in_tree(const block_t *b, int first, int items, char *to,
                    char *room)
{
    const char *x = room, *y = room + SW_REDUCE_BLOCK;
    if (items == 2) {
        x = item(b, first, room);
        y = item(b, first + 1, room + SW_REDUCE_BLOCK);
    } else {
        int half = items / 2;
        in_tree(b, first, half, room, room);
        in_tree(b, first + half, half, room + SW_REDUCE_BLOCK,
                room + SW_REDUCE_BLOCK);
    }
    b->f(to, x, y, b->m);
}

void sw_reduce_many(sw_reduce_func_t f, size_t elem, sw_order_t order, void *to,
                    const void *const *in, int count, size_t n, char *room)
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
    block_t b = {
        f, (const char *const *)in, count, sw_order_pairs(order, count), 0, 0};
    for (size_t i = 0; i < n; i += step) {
        b.at = i * elem;
        b.m = sw_min(step, n - i);
        if (order == SW_ORDER_LINE)
            in_line(&b, (char *)to + b.at, room);
        else
            in_tree(&b, 0, count - b.pairs, (char *)to + b.at, room);
    }
}
