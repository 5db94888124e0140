/*
 * python.h - the Python frames of a thread of another process.
 *
 * The watch file says where CPython keeps what (profile/stack/pycode.h). Each
 * object is copied, and the copy is read. All that the process says may be old
 * or damaged, so every size has a bound here.
 */
#ifndef SW_WATCH_READER_PYTHON_H
#define SW_WATCH_READER_PYTHON_H

#include "watch/watch.h"
#include "space.h"

enum { SW_PYTHON_FRAMES = 64, SW_PYTHON_FILE = 1024, SW_PYTHON_NAME = 256 };

typedef struct {
    int count;
    struct {
        char file[SW_PYTHON_FILE], function[SW_PYTHON_NAME];
        uint32_t line; /* 0: not known */
    } frame[SW_PYTHON_FRAMES];
} sw_python_stack_t;

/* The frames of the thread with this PyThreadState, innermost first. */
void sw_python_stack(const sw_space_t *s, const sw_watch_t *header,
                     uint64_t thread, sw_python_stack_t *to);

#endif
