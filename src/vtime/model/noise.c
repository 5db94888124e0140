/*
 * noise.c - see noise.h.
 *
 * An interruption begins, takes `duration`, and ends; from its end to the
 * beginning of the next one the gap is exponential, with the mean
 * period - duration. So a computation that never waits loses the part
 * duration / period of its time in the long run.
 *
 * Interruptions while a rank waits cost nothing: neither those that begin and
 * end in the wait, nor the rest of one that began there. A computation after
 * that begins with a gap, drawn anew. An exponential gap has no memory, so what
 * is left of one is distributed as a whole one is. So a wait costs one draw
 * however long it is.
 */
#include "noise.h"

#include "words.h"

#include <math.h>

/* The next gap of this rank. */
static sw_ps_t gap(const sw_noise_t *noise, uint32_t rank, sw_noise_at_t *at)
{
    uint64_t bits = sw_words_mix(
        sw_words_mix(noise->seed ^ sw_words_mix(rank)) + at->number++);
    double chance = (double)((bits >> 11) + 1) * 0x1p-53; /* (0, 1] */
    double mean = (double)(noise->period - noise->duration);
    return (sw_ps_t)(-mean * log(chance) + 0.5);
}

void sw_noise_begin(const sw_noise_t *noise, uint32_t rank, sw_noise_at_t *at)
{
    at->number = 0;
    at->next = noise->period && noise->duration ? gap(noise, rank, at)
                                                : SW_PS_NEVER;
}

sw_ps_t sw_noise_end(const sw_noise_t *noise, uint32_t rank, sw_noise_at_t *at,
                     sw_ps_t from, sw_ps_t time)
{
    sw_ps_t end = from + time;
    if (at->next == SW_PS_NEVER || time <= 0)
        return end;
    if (at->next < from)
        at->next = from + gap(noise, rank, at);
    while (at->next < end) {
        end += noise->duration;
        at->next += noise->duration + gap(noise, rank, at);
    }
    return end;
}
