/*
 * file_writer.h - what writes a file of operations: file_write.c (the file, its
 * parts and index), file_encode.c (one operation, one context).
 */
#ifndef SW_VTIME_OPS_FILE_WRITER_H
#define SW_VTIME_OPS_FILE_WRITER_H

#include "opfile_format.h"

#define SW_OPFILE_SHAPES 64u /* remembered by a rank */

typedef struct {
    unsigned char *at;
    uint32_t used, room, operations, request;
    uint16_t shapes[SW_OPFILE_SHAPES]; /* where one begins, and 1 */
} sw_op_buffer_t;

typedef struct {
    uint64_t offset;
    uint32_t rank, length, operations, crc;
} sw_op_entry_t;

struct sw_op_writer {
    char *path, *draft, *note;
    int fd, error;
    uint32_t ranks, most;    /* bytes of a part, at most */
    sw_op_buffer_t *buffers; /* the last is the contexts' */
    sw_op_entry_t *entries;
    uint32_t entry_count, entry_room;
    uint64_t operations, written;
    unsigned char *out;
    size_t out_used;
};

/* Keeps the first error: the writer writes nothing any more. */
void sw_op_writer_fail(sw_op_writer_t *writer, int error);
/* Room for n bytes more in a rank's buffer. */
bool sw_op_room(sw_op_writer_t *writer, uint32_t rank, size_t n);

#endif
