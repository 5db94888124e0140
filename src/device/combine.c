/*
 * combine.c - see combine.h.
 */
#include "combine.h"

#include "kernels.h"
#include "settle.h"

unsigned sw_combine_element(int kernel)
{
    enum {
        INT8 = 1,
        UINT8 = 1,
        INT16 = 2,
        UINT16 = 2,
        INT32 = 4,
        UINT32 = 4,
        FLOAT = 4,
        INT64 = 8,
        UINT64 = 8,
        DOUBLE = 8
    };
#define BYTES(op, type) type,
    static const uint8_t bytes[] = {SW_REDUCTIONS(BYTES)};
    return bytes[kernel];
}

/* Is [at, at + bytes) memory of a device, all of one allocation? */
static bool look(const void *at, uint64_t bytes, sw_cuda_place_t *to)
{
    return sw_cuda_place(at, to) && to->type == SW_CUDA_MEMORY_DEVICE &&
           !to->managed && to->context && sw_cuda_holds(to, to->at, bytes);
}

static int pairs(const sw_combine_t *x)
{
    return x->order == SW_COMBINE_LINE
               ? 0
               : x->sources - (1 << (31 - __builtin_clz((unsigned)x->sources)));
}

/* All vectors are of the target's context, whose place is *to. Within a visit
 * of it. */
static bool describe(const sw_combine_t *x, const sw_cuda_place_t *to,
                     uint64_t bytes, sw_reduce_t *r)
{
    sw_cuda_place_t from;
    *r = (sw_reduce_t){.target = to->at,
                       .n = x->n,
                       .sources = x->sources,
                       .pairs = pairs(x),
                       .line = x->order == SW_COMBINE_LINE};
    sw_cuda_at_t odd = to->at;
    sw_settle(to);
    for (int i = 0; i < x->sources; i++) {
        if (!look(x->source[i], bytes, &from) || from.context != to->context)
            return false;
        sw_settle(&from);
        r->source[i] = from.at;
        odd |= from.at;
    }
    return odd % sw_combine_element(x->kernel) == 0;
}

static bool launch(sw_context_t *c, sw_stage_t *s, int kernel, sw_reduce_t *r)
{
    const uint64_t tile = SW_REDUCE_THREADS * SW_REDUCE_UNROLL;
    uint64_t blocks = sw_min((r->n + tile - 1) / tile, INT32_MAX);
    void *parameter[] = {r};
    sw_cuda_handle_t function = sw_kernel_reduce(c, kernel);
    if (!function || !sw_stage_ready(c, s, false))
        return false;
    sw_cuda_count(&sw_cuda_counts.launches);
    return sw_context_ok(c,
                         sw_cuda.cuLaunchKernel(function, (unsigned)blocks, 1,
                                                1, SW_REDUCE_THREADS, 1, 1, 0,
                                                s->stream, parameter, NULL)) &&
           sw_stage_wait(c, s);
}

bool sw_combine(const sw_combine_t *x)
{
    sw_reduce_t r;
    sw_cuda_place_t place;
    sw_visit_t v;
    uint64_t bytes;
    if (!sw_cuda_usable())
        return false;
    if (!x->n)
        return true;
    if (x->sources < 1 || x->sources > SW_REDUCE_SOURCES ||
        __builtin_mul_overflow(x->n, sw_combine_element(x->kernel), &bytes) ||
        !look(x->target, bytes, &place) || !sw_visit_begin(&place, &v))
        return false;
    sw_context_t *c = v.context;
    sw_channel_t *channel = sw_channel_take(c);
    bool done = !atomic_load(&c->stale) && describe(x, &place, bytes, &r) &&
                launch(c, &channel->stage[0], x->kernel, &r);
    sw_channel_give(channel);
    if (done)
        sw_context_succeeded(c);
    sw_visit_end(&v);
    return done;
}
