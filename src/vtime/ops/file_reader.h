/*
 * file_reader.h - what reads a file of operations: file_read.c (the file, its
 * parts, a cursor for each rank), file_contexts.c, file_decode.c (one
 * operation).
 */
#ifndef SW_VTIME_OPS_FILE_READER_H
#define SW_VTIME_OPS_FILE_READER_H

#include "opfile_format.h"

/* Members from, from + step, ... */
typedef struct {
    uint32_t from, n;
    int64_t step;
} sw_op_run_t;

typedef struct {
    uint32_t number, n;
    uint32_t run, runs;
} sw_op_context_t;

typedef struct {
    const unsigned char *part, *at, *end;
    uint64_t next;             /* part */
    sw_ps_t time;              /* computed so far, and the last thing known */
    uint32_t request, context; /* to be right, besides the world */
    uint32_t left;             /* operations of this part */
} sw_op_cursor_t;

struct sw_op_file {
    const unsigned char *map;
    size_t size;
    uint32_t ranks;
    uint64_t operations, parts, data_end;
    const unsigned char *first, *entries;
    char *note;
    sw_op_cursor_t *cursors;
    sw_op_context_t *contexts; /* by number */
    uint32_t context_count, context_room;
    sw_op_run_t *runs;
    sw_sections_t sections;
    uint32_t run_count, run_room;
    uint64_t damaged;
};

static inline uint64_t sw_op_first_part(const sw_op_file_t *f, uint64_t rank)
{
    return sw_opfile_8(f->first + 8 * rank);
}

/* The operations of a part, or NULL: it is damaged. */
const unsigned char *sw_op_load(const sw_op_file_t *f, uint64_t part,
                                uint32_t *length, uint32_t *operations);

/* All but those of damaged parts; false: no memory. */
bool sw_op_read_contexts(sw_op_file_t *f);
/* NULL: no context has that number. */
const sw_op_context_t *sw_op_context_of(const sw_op_file_t *f, uint32_t number);
bool sw_op_is_member(const sw_op_file_t *f, uint32_t number, uint32_t rank);

/* The operation that a cursor is at; false: it is none. */
bool sw_op_decode(sw_op_file_t *f, sw_op_cursor_t *at, uint32_t rank,
                  sw_vop_t *op);

#endif
