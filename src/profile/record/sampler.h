/*
 * sampler.h - which calls are looked at for waiting.
 *
 * To see when a partner came takes a look into its memory: a cache line's way
 * between cores, for each partner. That must stay below a hundredth of the
 * time spent in MPI. So the recorder looks with a probability proportional to
 * the call's duration. It always looks after a call that took a hundred times
 * as long as a look. Of the shorter ones it looks at one for each such span of
 * time, and that one stands for the span.
 *
 * This is sampling with probability proportional to size (W. G. Cochran,
 * Sampling Techniques, 1977, chapter 9A). Each call that was looked at gives
 * its span times the share that it waited. Their sum is an unbiased estimate of
 * the time waited in all calls.
 */
#ifndef SW_PROFILE_RECORD_SAMPLER_H
#define SW_PROFILE_RECORD_SAMPLER_H

#include "node/base/base.h"

/* A look costs so many ns for each partner, and may take a hundredth. */
#define SW_LOOK_NS 80
#define SW_LOOK_SPAN ((uint64_t)SW_LOOK_NS * 100)

typedef struct {
    float left; /* spans until the next look */
    uint32_t random;
} sw_sampler_t;

static inline void sw_sampler_start(sw_sampler_t *s, uint32_t seed)
{
    s->random = seed * 2654435761u | 1;
    s->left = 0.5f;
}

/* How many ns a call of `time` ns stands for if it is looked at; 0: it is not.
 * `partners`: how many must be looked at. */
static inline uint64_t sw_sampler_stands_for(sw_sampler_t *s, uint64_t time,
                                             uint64_t partners)
{
    uint64_t span = SW_LOOK_SPAN * (partners ? partners : 1);
    if (time >= span)
        return time;
    float spans = (float)time * (1.0f / SW_LOOK_SPAN);
    s->left -= partners > 1 ? spans / (float)partners : spans;
    if (sw_likely(s->left > 0))
        return 0;
    s->random ^= s->random << 13;
    s->random ^= s->random >> 17;
    s->random ^= s->random << 5;
    s->left += 0.5f + (float)(s->random >> 8) / (float)(1 << 24);
    return span;
}

#endif
