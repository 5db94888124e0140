/*
 * space.h - the memory of another process: what lies where, and copies of it.
 *
 * The list of areas is read at the first question, and once. The process goes
 * on meanwhile, so an answer may be old: a copy that fails is no error.
 */
#ifndef SW_WATCH_READER_SPACE_H
#define SW_WATCH_READER_SPACE_H

#include "node/base/base.h"

typedef struct {
    uint64_t from, to, offset; /* the offset is the file's */
    uint64_t device, inode;    /* inode 0: no file */
    bool reads, runs;
    bool gone; /* the file has lost its name */
    char *path;
} sw_area_t;

typedef struct {
    pid_t pid;
    bool known;
    sw_area_t *areas; /* by their addresses */
    size_t count;
    char *text;
} sw_space_t;

/* Forget the areas, if any were read. */
void sw_space_close(sw_space_t *s);

/* The area that holds the address; NULL: none does. */
const sw_area_t *sw_space_area(sw_space_t *s, uint64_t at);

/* The first area of this path; NULL: there is none. */
const sw_area_t *sw_space_named(sw_space_t *s, const char *path);

/* Copy from the process; gives the number of bytes that came. */
size_t sw_space_copy(const sw_space_t *s, uint64_t from, void *to, size_t n);

#endif
