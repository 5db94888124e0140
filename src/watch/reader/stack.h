/*
 * stack.h - the frames of a thread of another process, from a copy of its
 * stack. The rules are those of profile/stack/unwind.h; the words come from the
 * copy, so that the thread may go on.
 */
#ifndef SW_WATCH_READER_STACK_H
#define SW_WATCH_READER_STACK_H

#include "image.h"
#include "space.h"

enum { SW_STACK_FRAMES = 64 };

/* Where a walk begins. */
typedef struct {
    uint64_t pc, sp, bp;
    bool exact; /* pc is the next instruction, and no return address */
    bool no_bp; /* the frame pointer is not known */
} sw_point_t;

typedef struct {
    int count;
    bool lost; /* the walk ended for want of the frame pointer */
    struct {
        const sw_image_t *image; /* NULL: in no file */
        uint64_t offset;
    } frame[SW_STACK_FRAMES];
} sw_frames_t;

/* Copy the stack from this address up, as far as a walk may need it. */
void sw_stack_copy(sw_space_t *s, uint64_t sp);

/* The frames, from the latest copy. */
void sw_stack_walk(sw_space_t *s, sw_point_t from, sw_frames_t *to);

/* The frame of the start alone. */
void sw_stack_first(sw_space_t *s, sw_point_t from, sw_frames_t *to);

#endif
