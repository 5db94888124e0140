/*
 * algorithm_pipeline.c - along a chain: each member passes on to the next what
 * it gets from the one before, whole (`chain`) or in segments of 64 KiB
 * (`pipeline`), one going out while the next comes in (Pjesivac-Grbovic et al.,
 * "Performance analysis of MPI collective operations", 2007). A broadcast goes
 * from the root on; a reduction comes from the other end of the chain, and each
 * member adds its part.
 *
 * With m segments of s bytes:
 *
 *     bcast     (n - 2 + m) (alpha + s beta)
 *     reduce    (n - 2 + m) (alpha + s beta + s gamma)
 *         (at most; exact where s divides B)
 */
#include "algorithm_parts.h"

#define SEGMENT 65536

static uint64_t segment(uint64_t bytes, uint64_t size, uint64_t number)
{
    uint64_t left = bytes - size * number;
    return left < size ? left : size;
}

/* Segment k comes while segment k - 1 goes. */
static bool step(const sw_call_t *call, uint32_t me, uint64_t k,
                 uint64_t size, sw_step_t *s)
{
    uint32_t r = sw_from_root(call, me);
    uint64_t segments = (call->bytes + size - 1) / size;
    if (!segments)
        segments = 1;
    sw_step_idle(s);
    if (r && k < segments)
        sw_step_receive(s, sw_to_member(call, r - 1),
                        segment(call->bytes, size, k));
    if (r + 1 < call->n && k >= (r > 0) && k - (r > 0) < segments)
        sw_step_send(s, sw_to_member(call, r + 1),
                     segment(call->bytes, size, k - (r > 0)));
    return s->to != SW_STEP_NOBODY || s->from != SW_STEP_NOBODY;
}

static double formula(const sw_call_t *call, double round, double byte,
                      uint64_t size)
{
    double segments = (double)((call->bytes + size - 1) / size);
    if (call->n < 2)
        return 0;
    if (call->bytes < size)
        size = call->bytes;
    return (call->n - 2 + (segments > 1 ? segments : 1)) *
           (round + (double)size * byte);
}

/* The same from the other end. */
static bool back(const sw_call_t *call, uint32_t me, uint64_t k,
                 uint64_t size, sw_step_t *s)
{
    sw_call_t other = *call;
    other.root = 0;
    uint32_t last = call->n - 1;
    if (!step(&other, last - sw_from_root(call, me), k, size, s))
        return false;
    if (s->to != SW_STEP_NOBODY)
        s->to = sw_to_member(call, last - s->to);
    if (s->from != SW_STEP_NOBODY)
        s->from = sw_to_member(call, last - s->from);
    s->reduced = s->received;
    return true;
}

static uint64_t whole(const sw_call_t *call)
{
    return call->bytes ? call->bytes : 1;
}

static bool bcast_chain(const sw_call_t *call, uint32_t me, uint32_t k,
                        sw_step_t *s)
{
    return step(call, me, k, whole(call), s);
}

static bool bcast_pipeline(const sw_call_t *call, uint32_t me, uint32_t k,
                           sw_step_t *s)
{
    return step(call, me, k, SEGMENT, s);
}

static bool reduce_chain(const sw_call_t *call, uint32_t me, uint32_t k,
                         sw_step_t *s)
{
    return back(call, me, k, whole(call), s);
}

static bool reduce_pipeline(const sw_call_t *call, uint32_t me, uint32_t k,
                            sw_step_t *s)
{
    return back(call, me, k, SEGMENT, s);
}

static double bcast_chain_formula(const sw_call_t *call, double round,
                                  double byte, double gamma)
{
    return formula(call, round, byte, whole(call));
}

static double bcast_pipeline_formula(const sw_call_t *call, double round,
                                     double byte, double gamma)
{
    return formula(call, round, byte, SEGMENT);
}

static double reduce_chain_formula(const sw_call_t *call, double round,
                                   double byte, double gamma)
{
    return formula(call, round, byte + gamma, whole(call));
}

static double reduce_pipeline_formula(const sw_call_t *call, double round,
                                      double byte, double gamma)
{
    return formula(call, round, byte + gamma, SEGMENT);
}

const sw_algorithm_t sw_bcast_chain = {
    "chain", bcast_chain, bcast_chain_formula};
const sw_algorithm_t sw_bcast_pipeline = {
    "pipeline", bcast_pipeline, bcast_pipeline_formula};
const sw_algorithm_t sw_reduce_chain = {
    "chain", reduce_chain, reduce_chain_formula};
const sw_algorithm_t sw_reduce_pipeline = {
    "pipeline", reduce_pipeline, reduce_pipeline_formula};
