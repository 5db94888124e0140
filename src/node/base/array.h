/*
 * array.h - an array for the time of a call, on a small stack.
 *
 * Programs start threads with stacks of 64 KiB, and a communicator may have
 * 1,024 members. So an array with an entry for each member lies on the stack
 * only where there are few; otherwise it comes from the heap, and goes back
 * at the end of the block that declares it. No call takes more than 8 KiB of
 * stack in all (tests/built/test_stack.py adds its frames up).
 */
#ifndef SW_NODE_BASE_ARRAY_H
#define SW_NODE_BASE_ARRAY_H

#include "base.h"

#define SW_FEW 12        /* entries that lie on the stack */
#define SW_FEW_BYTES 256 /* likewise, of an array of bytes */

/* n bytes from the heap, aligned for anything. Ends the job with a message when
 * there are none: the other members are in the collective already. */
SW_API void *sw_array_memory(size_t n);
/* `count` zeroed entries of `size` bytes; the caller frees them. Ends the job
 * likewise. */
SW_API void *sw_array_zeroed(size_t count, size_t size);
SW_API void sw_array_end(void *array); /* the address of the pointer */

#define SW_ARRAY_OF(type, name, few, count)                               \
    type name##_few[few];                                                 \
    void *name##_many __attribute__((                                     \
        cleanup(sw_array_end))) = sw_unlikely((size_t)(count) > (few))    \
                                      ? sw_array_memory((size_t)(count) * \
                                                        sizeof(type))     \
                                      : NULL;                             \
    type *const name = name##_many ? (type *)name##_many : name##_few

/* `name`: `count` entries of a type, or bytes. */
#define SW_ARRAY(type, name, count) SW_ARRAY_OF(type, name, SW_FEW, count)
#define SW_BYTES(name, count) SW_ARRAY_OF(char, name, SW_FEW_BYTES, count)

#endif
