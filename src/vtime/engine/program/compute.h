/*
 * compute.h - how long a rank computes: its processor's speed, and its noise.
 */
#ifndef SW_VTIME_ENGINE_PROGRAM_COMPUTE_H
#define SW_VTIME_ENGINE_PROGRAM_COMPUTE_H

#include "vtime/engine/base/state.h"

/* When what took `*measured` as it was measured ends, on the rank's processor,
 * begun at `begin`. Sets `*measured` to what it takes there without noise. */
static inline sw_ps_t sw_rank_compute(sw_engine_t *engine, sw_rank_t *rank,
                                      sw_ps_t begin, sw_ps_t *measured)
{
    const sw_model_t *model = engine->model;
    sw_ps_t time = *measured;
    if (model->cpu_speed != 1 && model->cpu_speed > 0)
        time = sw_ps_whole((double)time / model->cpu_speed);
    if (sw_unlikely(model->node_speed != NULL))
        time = sw_ps_whole((double)time / model->node_speed[rank->home->node]);
    time = sw_ps_min(time, SW_PS_MOST);
    sw_ps_t end = begin + time;
    if (model->noise.period > 0)
        end = sw_noise_end(&model->noise, rank->main.rank, &rank->noise, begin,
                           time);
    sw_engine_must(engine, end >= begin + time);
    rank->warmth.computed += time;
    *measured = time;
    return end;
}

#endif
