/*
 * engine.h - virtual time: each rank's operations, timed by a model.
 *
 *     sw_engine_t *engine = sw_engine_new(&model, &source, &options);
 *     while (sw_engine_run(engine) == SW_ENGINE_WAITS)
 *         ... until the source has more
 *     sw_engine_result(engine, &result);
 *     sw_engine_free(engine);
 *
 * Operations are taken from a source, rank by rank. The engine does all
 * matching itself, in virtual time: messages of one sender on one context are
 * not overtaken (MPI 4.1, 3.5), and a receive with wildcards takes the message
 * that arrives first, of those that arrive at the same time the one of the
 * lowest sender. What depends on other ranks' future is decided only when no
 * rank can do anything earlier any more (a conservative simulation: Chandy and
 * Misra 1979); so the same operations give the same times, in whatever order
 * they come in. A source whose program runs may not be able to go on until it
 * has an answer; the engine never asks it for more than it needs.
 */
#ifndef SW_VTIME_ENGINE_ENGINE_H
#define SW_VTIME_ENGINE_ENGINE_H

#include "vtime/model/model.h"
#include "vtime/ops/source.h"

typedef struct {
    bool check;         /* no event before its cause: abort() if there is one */
} sw_engine_options_t;

typedef enum {
    SW_ENGINE_DONE,
    SW_ENGINE_WAITS,    /* for the source          */
    SW_ENGINE_DEADLOCK, /* no rank can ever go on, for certain */
    SW_ENGINE_MEMORY,   /* there is none left      */
    SW_ENGINE_WRONG,    /* the operations cannot be: members disagree about a
                         * collective, there is no such rank or context;
                         * sw_engine_stuck tells, for the rank whose it is */
} sw_engine_state_t;

typedef struct sw_engine sw_engine_t;

/* A rank's thread that is late may never come while others wait for an answer:
 * it sleeps outside of MPI, is in a call that is not modelled, or `looks`,
 * perhaps, into a window's memory for what those write who wait. Those of which
 * `asleep` says so are not waited for before they do something. True: somebody
 * was. */
bool sw_engine_leave_behind(sw_engine_t *engine,
                            bool (*asleep)(void *of, uint32_t rank,
                                           uint32_t thread, bool looks),
                            void *of);
/* Nobody goes on in virtual time, as far as the engine sees; but the ranks may
 * still go on, since the host may have matched otherwise. */
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

/* Where a rank's time went, all in ps; the parts sum up to `end`. */
typedef struct {
    sw_ps_t end;        /* its clock after its last operation */
    sw_ps_t compute, noise;
    sw_ps_t messages;   /* in sends, receives, waits, probes, tests */
    sw_ps_t collectives;        /* and waits for their requests */
    /* Of messages and collectives, the time in which nothing could be done yet:
     * before the sender had called, the receiver of a message that is too large
     * to be sent without it, those members of a collective who must come first
     * (sw_waits_t), who held a lock, another thread. */
    sw_ps_t waiting;
} sw_rank_time_t;

typedef struct {
    sw_ps_t end;                /* of the last rank */
    uint64_t operations;
    uint64_t messages, bytes;   /* those of collectives by messages, too */
    /* By collective, over all ranks. */
    uint64_t calls[SW_COLLECTIVE_COUNT];
    sw_ps_t time[SW_COLLECTIVE_COUNT];
    /* Receives, probes and choices with wildcards: all, and those where the
     * host's decision was taken as it was. */
    uint64_t wildcards, undecided;
    /* Of those undecided, how many took another message than the first. */
    uint64_t disordered;
    /* How often the engine went on without knowing all: without a rank that
     * was silent, or beyond a wait that its host was done with. */
    uint64_t forced;
    const sw_rank_time_t *ranks;
} sw_engine_result_t;

void sw_engine_result(const sw_engine_t *engine, sw_engine_result_t *result);

/* After SW_ENGINE_WRONG: whose operations, and why; else "". */
void sw_engine_why(const sw_engine_t *engine, char *text, size_t size);

/* After a deadlock: what a rank waits for, as text of at most `size` bytes
 * ("receive from 3, tag 7"); "" where it has ended. */
void sw_engine_stuck(const sw_engine_t *engine, uint32_t rank, char *text,
                     size_t size);

#endif
