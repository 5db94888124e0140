/*
 * algorithm_pipeline.c - along a chain: Pjesivac-Grbovic et al., "Performance
 * analysis of MPI collective operations", 2007.
 *
 * Each member passes on to the next what it gets from the one before: whole
 * (`chain`), or in segments of 64 KiB (`pipeline`). One segment goes out while
 * the next comes in. A broadcast goes from the root on. A reduction comes from
 * the other end of the chain, and each member adds its part.
 *
 * With m segments of s bytes:
 *
 *     bcast     (n - 2 + m) (alpha + s beta)
 *     reduce    (n - 2 + m) (alpha + s beta + s gamma)
 *         (at most; exact where s divides B)
 */
#include "algorithm_parts.h"

/* The segments' size: a chain's message is whole. */
static uint64_t size_of(const sw_call_t *call)
{
    return call->segment ? call->segment : call->bytes ? call->bytes : 1;
}

static uint64_t segment(const sw_call_t *call, uint64_t number)
{
    uint64_t size = size_of(call), left = call->bytes - size * number;
    return left < size ? left : size;
}

/* A member receives segment k while it sends segment k - 1. */
bool sw_pipeline_bcast(const sw_call_t *call, uint32_t me, uint32_t k,
                       sw_step_t *s)
{
    uint32_t r = sw_algorithm_from_root(call, me);
    uint64_t size = size_of(call), segments = (call->bytes + size - 1) / size;
    if (!segments)
        segments = 1;
    if (r && k < segments)
        sw_step_receive(s, sw_algorithm_to_member(call, r - 1),
                        segment(call, k));
    if (r + 1 < call->n && k >= (r > 0) && k - (r > 0) < segments)
        sw_step_send(s, sw_algorithm_to_member(call, r + 1),
                     segment(call, k - (r > 0)));
    return s->to != SW_STEP_NOBODY || s->from != SW_STEP_NOBODY;
}

/* The same from the other end. */
bool sw_pipeline_reduce(const sw_call_t *call, uint32_t me, uint32_t k,
                        sw_step_t *s)
{
    sw_call_t other = *call;
    other.root = 0;
    uint32_t last = call->n - 1;
    if (!sw_pipeline_bcast(&other, last - sw_algorithm_from_root(call, me), k,
                           s))
        return false;
    if (s->to != SW_STEP_NOBODY)
        s->to = sw_algorithm_to_member(call, last - s->to);
    if (s->from != SW_STEP_NOBODY)
        s->from = sw_algorithm_to_member(call, last - s->from);
    return true;
}

double sw_pipeline_takes(const sw_call_t *call, double alpha, double beta,
                         double gamma)
{
    uint64_t size = size_of(call);
    double segments = (double)((call->bytes + size - 1) / size);
    if (call->n < 2)
        return 0;
    if (call->bytes < size)
        size = call->bytes;
    return (call->n - 2 + (segments > 1 ? segments : 1)) *
           (alpha + (double)size * beta);
}
