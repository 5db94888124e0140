/*
 * engine_file.h - the contexts of a file of operations, for an engine.
 */
#ifndef SW_VTIME_ENGINE_ENGINE_FILE_H
#define SW_VTIME_ENGINE_ENGINE_FILE_H

#include "engine.h"
#include "vtime/ops/file.h"

/* All of them. False: no memory, or sw_engine_context refuses one. */
bool sw_engine_contexts(sw_engine_t *engine, const sw_op_file_t *file);

#endif
