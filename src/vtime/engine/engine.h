/*
 * engine.h - virtual time: each rank's operations, timed by a model.
 *
 *     sw_engine_t *engine = sw_engine_new(&model, &source, &options);
 *     while (sw_engine_run(engine) == SW_ENGINE_WAITS)
 *         ... until the source has more
 *     sw_engine_result(engine, &result);
 *     sw_engine_free(engine);
 *
 * The engine takes operations from a source, rank by rank. It does all matching
 * itself, in virtual time: messages of one sender on one context do not
 * overtake each other (MPI 4.1, 3.5). A receive with wildcards takes the
 * message that arrives first; of those that arrive together, the lowest
 * sender's.
 *
 * The engine decides what depends on other ranks' future only when no rank can
 * do anything earlier any more (a conservative simulation: Chandy and Misra
 * 1979). So the same operations give the same times, in whatever order they
 * come in. A source whose program runs may need an answer before it can go on;
 * the engine never asks it for more than it needs.
 */
#ifndef SW_VTIME_ENGINE_ENGINE_H
#define SW_VTIME_ENGINE_ENGINE_H

#include "base/names.h"
#include "base/times.h"
#include "vtime/model/model.h"
#include "vtime/ops/source.h"

typedef struct {
    bool check; /* no event before its cause: abort() if there is one */
} sw_engine_options_t;

typedef enum {
    SW_ENGINE_DONE,
    SW_ENGINE_WAITS,    /* for the source */
    SW_ENGINE_DEADLOCK, /* no rank can ever go on, for certain */
    SW_ENGINE_MEMORY,   /* there is none left */
    /* the operations cannot be: members disagree about a collective, there
     * is no such rank or context; sw_engine_stuck tells, for the rank whose
     * it is */
    SW_ENGINE_WRONG,
} sw_engine_state_t;

/* A late thread of a rank may never come while others wait for an answer: it
 * sleeps outside of MPI, or is in a call that is not modelled. Or it `looks`,
 * perhaps, into a window's memory for what the waiting ranks will write. The
 * engine no longer waits for the threads that `asleep` names, until they do
 * something. True: it had waited for one. */
bool sw_engine_leave_behind(sw_engine_t *engine,
                            bool (*asleep)(void *of, uint32_t rank,
                                           uint32_t thread, bool looks),
                            void *of);
/* The engine sees no rank go on in virtual time. But the ranks may still go on,
 * since the host may have matched otherwise. */
bool sw_engine_suspects(const sw_engine_t *engine);

/* The model has the number of ranks. NULL: no memory. */
sw_engine_t *sw_engine_new(sw_model_t *model, const sw_op_source_t *source,
                           const sw_engine_options_t *options);
void sw_engine_free(sw_engine_t *engine);

/* A context, before the first operation that names it; 0 is the world and
 * there from the beginning. Copied. The same number again: the same members.
 * False: no memory, or it is not so. */
bool sw_engine_context(sw_engine_t *engine, uint32_t number, uint32_t n,
                       const uint32_t *members);

sw_engine_state_t sw_engine_run(sw_engine_t *engine);

void sw_engine_result(const sw_engine_t *engine, sw_engine_result_t *result);

/* After SW_ENGINE_WRONG: whose operations, and why; else "". */
void sw_engine_why(const sw_engine_t *engine, char *text, size_t size);

/* After a deadlock: what a rank waits for, as text of at most `size` bytes
 * ("receive from 3, tag 7"); "" where it has ended. */
void sw_engine_stuck(const sw_engine_t *engine, uint32_t rank, char *text,
                     size_t size);

#endif
