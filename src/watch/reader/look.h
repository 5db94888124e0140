/*
 * look.h - a look at one thread: its row, and its stack at the same time.
 *
 * The program goes on while the reader copies a stack. So the row's turn is
 * compared before and after, and the reader looks again where it changed. A
 * thread that makes calls without end has then no stack but the call's place.
 */
#ifndef SW_WATCH_READER_LOOK_H
#define SW_WATCH_READER_LOOK_H

#include "display.h"
#include "python.h"
#include "stack.h"

typedef struct {
    bool good; /* the row could be read */
    sw_watch_thread_t row;
    bool known; /* there are frames: of the call, or of the program's code */
    sw_frames_t frames;
    sw_python_stack_t python;
} sw_look_t;

/* Look at the thread `tid` with row `i`. `stacks`: of a call that it is in;
 * `samples`: and elsewhere, too. */
void sw_look_thread(const sw_display_t *d, size_t i, pid_t tid, char state,
                    bool stacks, bool samples, sw_look_t *to);

/* The same of a thread without a row: where it is in the program's code. */
void sw_look_outside(const sw_display_t *d, pid_t tid, char state,
                     sw_look_t *to);

#endif
