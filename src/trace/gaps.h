/*
 * gaps.h - how long ranks compute beside their calls.
 *
 * The reader adds up times of each record of a thread (docs/capture-format.md).
 * They are `before`, since the end of the thread's last call, `after`, to its
 * next call, and `waited`, for partners within the call. A rank that completes
 * such a call only before its next one can hide waiting behind computing.
 * `hidden` is the sum of the smaller of `waited` and `after`, call by call.
 *
 *     [rank, thread, record, calls, before, after, waited, hidden]
 *
 * Times are in ticks. The first call of a thread has nothing before it, the
 * last one nothing after it, and neither have calls beside a damaged block.
 */
#ifndef SW_TRACE_GAPS_H
#define SW_TRACE_GAPS_H

#include "reader.h"

#include <stdio.h>

typedef struct {
    uint64_t calls, before, after, waited, hidden;
} sw_gap_t;

typedef struct {
    uint32_t rank, thread;
    sw_gap_t *gaps; /* by record */
    size_t room;
    bool has_last; /* the call before, which waited so long: */
    uint64_t last_record, last_end, last_waited;
} sw_gap_thread_t;

typedef struct {
    sw_gap_thread_t *threads;
    uint32_t count, room;
} sw_gaps_t;

/* Adds a file's calls. False: no memory. */
bool sw_gaps_add(sw_gaps_t *gaps, sw_trace_reader_t *reader);
/* The rows above, with commas between. */
void sw_gaps_put(const sw_gaps_t *gaps, FILE *to);
void sw_gaps_free(sw_gaps_t *gaps);

#endif
