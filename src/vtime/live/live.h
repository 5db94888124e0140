/*
 * live.h - a running program as a source of operations.
 *
 *     sw_live_t *live = sw_live_new(feeds);
 *     sw_live_source(live, &source);
 *     engine = sw_engine_new(&model, &source, &options);
 *     while (sw_engine_run(engine) == SW_ENGINE_WAITS &&
 *            sw_live_wait(live, engine))
 *         ;
 */
#ifndef SW_VTIME_LIVE_LIVE_H
#define SW_VTIME_LIVE_LIVE_H

#include "vtime/engine/engine.h"
#include "vtime/ops/file.h"
#include "vtime/feed/feed.h"

typedef struct sw_live sw_live_t;

/* Of all feeds of the segment. NULL: no memory. */
sw_live_t *sw_live_new(sw_feeds_t *feeds);
void sw_live_free(sw_live_t *live);

void sw_live_source(sw_live_t *live, sw_op_source_t *source);
/* Writes down what the engine takes, so that a replay can read it: a question
 * becomes what the rank found. `test`: the model's time of a question in
 * vain. */
void sw_live_record(sw_live_t *live, sw_op_writer_t *writer, sw_ps_t test);

/* Sleeps until the engine may have more to do. False: something is wrong, and
 * sw_live_error tells what; the engine must not wait for the program's
 * ranks. */
bool sw_live_wait(sw_live_t *live, sw_engine_t *engine);
/* NULL: nothing is. */
const char *sw_live_error(const sw_live_t *live);

/* How a rank has ended: it is there yet, in MPI_Finalize, before that, or
 * without a word. */
typedef enum {
    SW_LIVE_RUNS,
    SW_LIVE_WELL,
    SW_LIVE_EARLY,
    SW_LIVE_DIED,
    SW_LIVE_ABSENT,
} sw_live_end_t;
sw_live_end_t sw_live_ended(const sw_live_t *live, uint32_t rank);

/* The names of the program's sections. */
const sw_sections_t *sw_live_sections(const sw_live_t *live);
/* More were named than there are numbers: they count as outside. */
bool sw_live_sections_lost(const sw_live_t *live);

/* Gives the ranks no more answers, and refuses what they put. */
void sw_live_over(sw_live_t *live);
/* The files are written: the ranks that wait for that go on. */
void sw_live_written(sw_live_t *live);

#endif
