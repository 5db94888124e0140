/*
 * noise.h - the processor time that the operating system takes from a program.
 *
 * The operating system takes each rank's processor away at random times. The
 * gaps are exponential, from a counter-based generator: the same seed, rank and
 * number give the same gap. So predictions do not depend on the order of
 * evaluation.
 */
#ifndef SW_VTIME_MODEL_NOISE_H
#define SW_VTIME_MODEL_NOISE_H

#include "model.h"

/* Where a rank is in its noise: the next time, and its number. */
typedef struct {
    sw_ps_t next;
    uint64_t number;
} sw_noise_at_t;

void sw_noise_begin(const sw_noise_t *noise, uint32_t rank, sw_noise_at_t *at);
/* When a computation that begins at `from` and takes `time` ends. */
sw_ps_t sw_noise_end(const sw_noise_t *noise, uint32_t rank, sw_noise_at_t *at,
                     sw_ps_t from, sw_ps_t time);

#endif
