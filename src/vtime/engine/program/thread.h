/*
 * thread.h - threads of a rank that call MPI at once.
 */
#ifndef SW_VTIME_ENGINE_PROGRAM_THREAD_H
#define SW_VTIME_ENGINE_PROGRAM_THREAD_H

#include "vtime/engine/base/state.h"

/* A thread's next operation; `taken` has what the engine made of it. */
sw_source_state_t sw_thread_next(sw_engine_t *engine, sw_rank_t *thread,
                                 sw_vop_t *op);
/* The first operation of a rank says that it has threads. */
void sw_thread_begin(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op);
/* Reads on in a file: far behind may stand what another thread does, and which
 * message a receive with MPI_ANY_SOURCE has taken. False: there is nothing. */
bool sw_thread_read_on(sw_engine_t *engine);
/* THREAD, as a thread comes to it, but for waiting for another. */
void sw_thread_run(sw_engine_t *engine, sw_rank_t *thread, const sw_vop_t *op);
/* Take all that a running program has put. */
void sw_thread_pump(sw_engine_t *engine, sw_rank_t *home);
void sw_threads_free(sw_rank_t *home);

#endif
