/*
 * algorithm_pipeline.c - broadcast along a chain: each member passes on to the
 * next what it gets from the one before, whole (`chain`) or in segments of
 * 64 KiB (`pipeline`), one going out while the next comes in (Pjesivac-Grbovic
 * et al., "Performance analysis of MPI collective operations", 2007).
 *
 *     with m segments of s bytes    (n - 2 + m) (alpha + s beta)
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

static uint64_t whole(const sw_call_t *call)
{
    return call->bytes ? call->bytes : 1;
}

static bool chain(const sw_call_t *call, uint32_t me, uint32_t k,
                  sw_step_t *s)
{
    return step(call, me, k, whole(call), s);
}

static bool pipeline(const sw_call_t *call, uint32_t me, uint32_t k,
                     sw_step_t *s)
{
    return step(call, me, k, SEGMENT, s);
}

static double chain_formula(const sw_call_t *call, double round, double byte,
                            double gamma)
{
    return formula(call, round, byte, whole(call));
}

static double pipeline_formula(const sw_call_t *call, double round,
                               double byte, double gamma)
{
    return formula(call, round, byte, SEGMENT);
}

const sw_algorithm_t sw_bcast_chain = {"chain", chain, chain_formula};
const sw_algorithm_t sw_bcast_pipeline = {
    "pipeline", pipeline, pipeline_formula};
