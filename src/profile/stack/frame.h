/*
 * frame.h - the frames that stacks are made of: places in a program that stay
 * the same from run to run, whatever addresses they had.
 */
#ifndef SW_PROFILE_STACK_FRAME_H
#define SW_PROFILE_STACK_FRAME_H

#include "profile/base/table.h"

enum { SW_FRAME_NATIVE = 0, SW_FRAME_PYTHON = 1 };

typedef struct {
    uint64_t offset; /* native: of the call, in its module; else 0 */
    /* row of sw_modules (0: in none, and the offset is the address) or of
     * sw_python_lines */
    uint32_t place;
    uint32_t language;
} sw_frame_t;

extern sw_table_t sw_frames;

/* The row of this frame, made if need be; 0: no room. With the lock held. */
uint32_t sw_frame_of(uint32_t language, uint32_t place, uint64_t offset);

#endif
