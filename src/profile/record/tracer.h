/*
 * tracer.h - writes every call of a thread, in order, into the trace.
 *
 * A call becomes some ten bytes in the thread's buffer: numbers of variable
 * length, times as differences from the call before. docs/capture-format.md
 * (TRAC) defines them. A full buffer goes to the file as one block. The rank's
 * trace stops when the job's share of disk space is used up, or the disk is
 * full. The tracer then counts the calls that are not in it.
 */
#ifndef SW_PROFILE_RECORD_TRACER_H
#define SW_PROFILE_RECORD_TRACER_H

#include "record.h"
#include "trace/format.h"

/* One thread's stream. */
typedef struct {
    /* Events in the buffer << 32 | bytes used: one word, so that a signal
     * handler finds both of the same moment. */
    _Atomic uint64_t fill;
    _Atomic bool taken; /* the buffer, to be written */
    bool scratch;       /* goes nowhere */
    uint32_t thread;
    uint32_t block; /* blocks begun, 1 and up */
    uint32_t room;  /* of the buffer, bytes */
    uint32_t notes_room, notes_used;
    char *buffer, *notes;
    uint64_t base, last; /* ticks: of the block, of the last end */
} sw_tracer_t;

/* Is there a trace? Settled by sw_tracer_open. */
SW_API extern bool sw_tracing;

/* What is in the file so far, and what is not. */
typedef struct {
    _Atomic uint64_t events, bytes, lost;
    _Atomic(const char *) stopped; /* "limit", "disk"; NULL: it was not */
} sw_tracer_sums_t;
SW_API extern sw_tracer_sums_t sw_tracer_sums;

/* The traces of the job's ranks go beside the capture, and take `limit` bytes
 * together. Asks for no more than half of what is free there, and returns what
 * it asks for; 0: nothing can be written, errno says why. */
SW_API uint64_t sw_tracer_open(uint64_t limit);

/* NULL: no memory. `scratch`: written nowhere, to try things out. */
SW_API sw_tracer_t *sw_tracer_make(uint32_t thread, bool scratch);

/* A note on the event that is put next; amounts are noted by themselves. */
SW_API void sw_tracer_note(sw_tracer_t *trace, sw_note_kind_t kind,
                           const uint64_t *fields, unsigned n);
#define SW_NOTE(TRACE, KIND, ...)                                \
    sw_tracer_note(TRACE, KIND, (const uint64_t[]){__VA_ARGS__}, \
                   sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* A number that may be negative, as a field. */
static inline uint64_t sw_tracer_signed(int64_t n)
{
    return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

/* Put an event with its notes. `record` may be NULL. */
SW_API void sw_tracer_event(sw_tracer_t *trace, sw_record_t *record,
                            uint64_t began, uint64_t ticks,
                            const sw_amount_t *amount);

/* A new number for a request, of this process. */
SW_API uint32_t sw_tracer_request(void);

/* Writes what is in the buffer, and takes no more. Any thread may call it at
 * any time, and so may a signal handler. */
SW_API void sw_tracer_close(sw_tracer_t *trace);

#endif
