/*
 * reader.h - the TRAC blocks of a file, one after the other, and their events.
 *
 *     sw_trace_reader_t reader;
 *     if (!sw_trace_open(&reader, path))
 *         while (sw_trace_block(&reader))
 *             while (sw_trace_event(&reader))
 *                 use(reader.rank, reader.thread, &reader.event);
 *     sw_trace_close(&reader);
 *
 * docs/capture-format.md says what is in the file. The reader believes nothing
 * in it. It skips a block whose checksum is wrong, and the rest of a block that
 * does not hold what it says. Where a length cannot be right, it looks for the
 * next sound block. One block at a time is in memory.
 */
#ifndef SW_TRACE_READER_H
#define SW_TRACE_READER_H

#include "format.h"
#include "varint.h"

#define SW_TRACE_BLOCK_MOST ((uint64_t)64 << 20) /* bytes of a payload */

/* All but amount and waited, which are part of the event. What a kind has not
 * is 0. */
typedef struct {
    sw_note_kind_t kind;
    int64_t peer, tag;
    uint64_t number;
    uint64_t request;
    uint64_t bytes;        /* of sends: and 1; 0: the call's amount */
    uint64_t communicator; /* index into the rank's list */
    /* of means, of which `number` is the collective, `peer` its root */
    uint64_t size, sent, received;
    /* Of target, `number` is the window, and `tag` has the flags. */
} sw_trace_note_t;

typedef struct {
    uint64_t record;
    uint64_t begin, end;           /* ticks */
    uint64_t size, sent, received; /* bytes */
    uint64_t waited;               /* ticks; 0 where that is not known, too */
    const sw_trace_note_t *notes;
    uint32_t note_count;
    bool failed;
} sw_trace_event_t;

/* The last amounts of a record in this block. */
typedef struct {
    uint64_t record, size, sent, received;
    uint64_t block;
} sw_amounts_t;

typedef struct {
    /* The block at hand, and the event of it. */
    uint32_t rank, thread;
    sw_trace_event_t event;

    /* Give it before the first block: whose blocks are wanted; NULL: all. */
    bool (*wanted)(void *of, uint32_t rank);
    void *wanted_of;

    /* What was found so far. */
    uint64_t blocks;  /* with events */
    uint64_t damaged; /* left out, in whole or in part */
    bool cut;         /* the file ends within a block */
    int error;        /* errno: reading had to stop */

    /* The file. */
    int fd;
    uint64_t size, at, budget;
    unsigned char *payload;
    size_t payload_room;

    /* The block's events. */
    sw_cursor_t cursor;
    uint64_t ticks;
    uint32_t left;
    sw_trace_note_t *notes;
    uint32_t notes_room;
    sw_amounts_t *amounts;
    size_t amounts_room, amounts_used;
} sw_trace_reader_t;

/* 0, or an errno; EINVAL: it is no capture file that this can read. */
int sw_trace_open(sw_trace_reader_t *reader, const char *path);
void sw_trace_close(sw_trace_reader_t *reader);

/* The next block; false when there is none. */
bool sw_trace_block(sw_trace_reader_t *reader);
/* Its next event; false when there is none. */
bool sw_trace_event(sw_trace_reader_t *reader);

#endif
