/*
 * python.h - the lines of Python that this thread is at.
 *
 * mpi4py gives the interpreter's lock away around an MPI call, so nothing of
 * Python's may be called there, no reference be counted, nothing allocated.
 * Nothing needs to: the frames of the calling thread stand still while it is
 * in the call, and they keep their code objects alive. So they are read where
 * they lie. Where that is differs from version to version:
 *
 *     3.9, 3.10   PyThreadState.frame -> PyFrameObject -> f_back
 *     3.11, 3.12  PyThreadState.cframe -> current_frame -> previous
 *     3.13, 3.14  PyThreadState.current_frame -> previous; where the fields
 *                 are stands in a table at the start of _PyRuntime, which is
 *                 there for debuggers
 *
 * What is read is not trusted at first: the first frames that are met are read
 * with care, word by word, and must be made of code objects, strings and line
 * tables; and if this thread holds the interpreter's lock at that moment, what
 * its own functions say must be the same. Where anything is not as expected
 * (another version, a build without the lock), one line says so, and call
 * sites do without Python.
 */
#ifndef SW_PROFILE_STACK_PYTHON_H
#define SW_PROFILE_STACK_PYTHON_H

#include "thread.h"

/* A line of Python: two calls in one line are one. */
typedef struct {
    const char *file;
    const char *function; /* qualified from Python 3.11 on */
    uint32_t line;        /* 0: not known */
} sw_python_line_t;

extern sw_table_t sw_python_lines;

/* Is there a Python? Looked for when objects have come (sw_python_look). */
typedef enum {
    SW_PYTHON_NONE,
    SW_PYTHON_UNPROVED,
    SW_PYTHON_ON,
    SW_PYTHON_OFF
} sw_python_state_t;
extern _Atomic int sw_python_state;

void sw_python_look(void);

static inline bool sw_python_here(void)
{
    int state = atomic_load_explicit(&sw_python_state, memory_order_acquire);
    return state == SW_PYTHON_ON || state == SW_PYTHON_UNPROVED;
}

/* For readers of this process's memory: where Python keeps what (pycode.h), or
 * NULL; and the address of the calling thread's PyThreadState, or 0. */
SW_API const struct sw_python_layout *sw_python_layout(void);
SW_API uintptr_t sw_python_thread(void);

/* The innermost frames of this thread, at most `most`, as rows of sw_frames;
 * without those of the import machinery. -1: they cannot be told. */
int sw_python_frames(sw_thread_t *t, uint32_t *frames, int most);

#endif
