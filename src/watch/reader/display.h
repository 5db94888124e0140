/*
 * display.h - the watch file of a process (watch/watch.h), found and copied.
 *
 * The file is sparse, and reading must not make it larger. So only those pages
 * are read that hold data; all others are zeros.
 *
 * The reader maps the file. Where the process has closed its descriptor, the
 * reader copies from the process's own mapping instead.
 *
 * Memory order: a thread's row is good where `turn` is even, and the same
 * before and after the copy. The loads of the copy come after the first load of
 * `turn`, which acquires. They come before the second one, by the fence.
 */
#ifndef SW_WATCH_READER_DISPLAY_H
#define SW_WATCH_READER_DISPLAY_H

#include "watch/watch.h"
#include "space.h"

#define SW_DISPLAY_PAGES ((sizeof(sw_watch_t) + SW_PAGE - 1) / SW_PAGE)

typedef struct {
    sw_space_t *space;
    const sw_watch_t *live; /* the file; NULL: `remote` is its place */
    uint64_t remote;
    sw_watch_t *copy;
    bool inside;   /* the process counts pids in a namespace of its own */
    bool broken;   /* there is a file, and no way to read it */
    char path[64]; /* the file that `live` shows */
    bool has[SW_DISPLAY_PAGES];
} sw_display_t;

/* Copy the watch file of the process. NULL: done; else why not. "" stands for
 * a process that shows none. */
const char *sw_display_open(sw_display_t *d, sw_space_t *space);
void sw_display_close(sw_display_t *d);

/* Might this row of the copy hold anything? */
bool sw_display_has(const sw_display_t *d, const void *row, size_t size);

/* Copy a thread's row as it is now. False: it changed at each try. */
bool sw_display_thread(const sw_display_t *d, size_t i, sw_watch_thread_t *to);

/* The row's turn now. */
uint32_t sw_display_turn(const sw_display_t *d, size_t i);

#endif
