/*
 * result.h - what the engine has found, as JSON.
 *
 * One object on one line, times in ns (fractions count):
 *
 *     {"state": "done",            or "deadlock", "memory", "wrong"
 *      "ranks": 64, "end_ns": 1234.5,
 *      "operations": 10, "messages": 5, "bytes": 4096,
 *      "wildcards": 0,             receives, probes with wildcards,
 *      "undecided": 0,             of these taken as the host did,
 *      "disordered": 0,            of these not the first to come
 *      "forced": 0,                steps without knowing all
 *      "collectives": {"allreduce": {"calls": 64, "time_ns": 10.25}, ...},
 *      "sums": {"end_ns": 0, "compute_ns": 0, "noise_ns": 0,
 *               "messages_ns": 0, "collectives_ns": 0,
 *               "waiting_ns": 0},  (part of the two before)   of all ranks
 *      "rank_times": [{"end_ns": ...as in sums}, ...],     each rank's
 *      "sections": [{"name": "",   outside of all; or "outer/inner"
 *                    "ranks": 64,  that were there
 *                    "sums": {...as above}, "end_ns" being the time there,
 *                    "longest": 3, the rank that was there for longest
 *                    "most": {...}}, ...],   its times
 *      "stuck": [{"rank": 0, "waits_for": "receive from 1, tag 3"}, ...],
 *      "stuck_ranks": 2,           all of them; the list has the first few
 *      "extrapolated": false,
 *      "wall_s": 0.1,              that it took to find out
 *      "damaged": 0,               parts of the file left out
 *      "notes": ["..."]}
 *
 * Only collectives that were called are there, and `stuck` only after a
 * deadlock. Sections (section.h) have those within them, too; the list is empty
 * where the program has none.
 */
#ifndef SW_VTIME_ENGINE_RESULT_H
#define SW_VTIME_ENGINE_RESULT_H

#include "engine.h"
#include "vtime/ops/section.h"

#include <stdio.h>

typedef struct {
    const sw_engine_t *engine;
    sw_engine_state_t state; /* what the engine ended with */
    uint32_t ranks;
    const sw_sections_t *sections; /* their names */
    double wall;                   /* s */
    uint64_t damaged;
    bool extrapolated;
    const char *notes[4]; /* up to NULL, or all; "" are left out */
} sw_result_t;

void sw_result_json(FILE *to, const sw_result_t *result);
/* Sentences on a deadlock, for people. */
void sw_result_stuck(FILE *to, const sw_result_t *result);

#endif
