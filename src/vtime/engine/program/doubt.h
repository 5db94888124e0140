/*
 * doubt.h - waits that the engine's knowledge does not decide.
 */
#ifndef SW_VTIME_ENGINE_PROGRAM_DOUBT_H
#define SW_VTIME_ENGINE_PROGRAM_DOUBT_H

#include "vtime/engine/base/state.h"

/* No rank goes on, and none is late. True: one goes on now. */
bool sw_doubt_resolve(sw_engine_t *engine);
/* May ranks go on in the host? */
bool sw_doubt(const sw_engine_t *engine);

#endif
