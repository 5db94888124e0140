/*
 * operations.h - a rank's operations, as far as they go without waiting.
 */
#ifndef SW_VTIME_ENGINE_PROGRAM_OPERATIONS_H
#define SW_VTIME_ENGINE_PROGRAM_OPERATIONS_H

#include "vtime/engine/base/state.h"

void sw_operations_run(sw_engine_t *engine, sw_rank_t *rank);

#endif
