/*
 * gaps.h - how long ranks compute beside their calls.
 *
 * Of each record (docs/capture-format.md) of a thread: the time from the end of
 * the call before to the call, from its end to the next call, and how long it
 * waited for partners. A rank that went on after such a call, and completed it
 * later, could hide as much of the waiting as it computes until its next call:
 * `hidden` is the sum of the smaller of the two.
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
    sw_gap_t *gaps;             /* by record */
    size_t room;
    bool has_last;              /* the call before, which waited so long: */
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
