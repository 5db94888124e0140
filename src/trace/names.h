/*
 * names.h - what the numbers of a trace mean, as the Python half tells it.
 *
 * That half has read the RANK blocks. It writes text, one item a line, its
 * parts separated by tabs:
 *
 *     string  TEXT
 *     rank    NUMBER FILE START TICKS NS OFFSET NAME LABEL
 *     communicator ID
 *     thread  NUMBER NAME
 *     call    RECORD NAME CATEGORY [DETAIL ...]
 *
 * Strings are numbered from 1 in their order, and named by number in calls:
 * NAME and CATEGORY, and in a DETAIL, which is NAME=NUMBER or NAME:STRING.
 * Communicators and threads belong to the rank before them, a call to the
 * thread before it. A rank's communicators are numbered from 1 in their order;
 * ID is in hexadecimal, 0 where it is not known. FILE is the one of the files
 * at hand, from 0, that has the rank's trace. Where the ticks of a rank are t,
 * its time is
 *
 *     OFFSET + (t - START) * NS / TICKS       ns, to the nearest
 *
 * or OFFSET + t - START where TICKS is 0, and never less than 0.
 */
#ifndef SW_TRACE_NAMES_H
#define SW_TRACE_NAMES_H

#include "node/base/base.h"

#include <stdio.h>

typedef struct {
    uint32_t name, category; /* strings; 0: there is no such call */
    const char *details;
    /* The form for Perfetto. */
    unsigned char *encoded;
    uint32_t encoded_bytes;
} sw_call_name_t;

typedef struct {
    uint32_t number;
    const char *name;
    sw_call_name_t *calls; /* by record */
    uint32_t call_count, call_room;
    uint32_t sequence; /* in Perfetto's file; 0: not yet there */
    unsigned char *told;
} sw_thread_name_t;

typedef struct {
    uint32_t number, file;
    uint64_t start, ticks, ns, offset;
    const char *name, *label;
    uint64_t *communicators; /* from 0, the numbers being one more */
    uint32_t communicator_count, communicator_room;
    sw_thread_name_t *threads;
    uint32_t thread_count;
    bool shown; /* in Perfetto's file */
} sw_rank_name_t;

typedef struct {
    const char **strings; /* from 1 */
    uint32_t string_count, string_room;
    sw_rank_name_t *ranks; /* sorted by number */
    uint32_t rank_count, rank_room;
    char *text;
} sw_names_t;

/* False: there is no memory, or it is not as described. */
bool sw_names_read(sw_names_t *names, FILE *from);
void sw_names_free(sw_names_t *names);

/* NULL: not named. */
sw_rank_name_t *sw_names_rank(const sw_names_t *names, uint32_t number);
/* A thread that was not named becomes one without calls; NULL: no memory. */
sw_thread_name_t *sw_names_thread(sw_rank_name_t *rank, uint32_t number);

static inline sw_call_name_t *sw_names_call(const sw_thread_name_t *thread,
                                            uint64_t record)
{
    return record < thread->call_count && thread->calls[record].name
               ? &thread->calls[record]
               : NULL;
}

/* The id of a rank's communicator; 0: not known. */
static inline uint64_t sw_names_communicator(const sw_rank_name_t *rank,
                                             uint64_t number)
{
    return number && number <= rank->communicator_count
               ? rank->communicators[number - 1]
               : 0;
}

/* Ticks as ns. */
uint64_t sw_names_time(const sw_rank_name_t *rank, uint64_t ticks);

#endif
