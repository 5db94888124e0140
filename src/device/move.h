/*
 * move.h - what a kernel is told about a message that it moves.
 *
 * The message is a sequence of units of 1, 2, 4, 8 or 16 bytes. Each side, the
 * source and the target, is a function from the number of a unit to its
 * address. A thread loads unit i from its source address and stores it at its
 * target address. So packing, unpacking and moving from layout to layout are
 * one kernel, which differs in the shapes of its sides:
 *
 *   ROW    units a fixed stride apart: contiguous bytes, a vector of doubles
 *   PLANE   two levels: a vector of blocks
 *   BOX     up to five levels: a face, a part of an array
 *   LIST    runs of one length, each at an offset from a table
 *   RUNS    runs of any lengths, each at an offset from a table
 *
 * The host fills this structure, and the launch carries it by value: no message
 * needs memory of its own on the device. A divided level has its count as a
 * multiplier, since a device divides in software.
 *
 * A table counts in multiples of `scale`, so that 32 bits suffice for almost
 * every type. Of RUNS, `first` says for each stretch of 2^shift bytes of an
 * element's data which run holds its first byte. So a thread searches among a
 * few runs, however many the type has.
 *
 * NVRTC compiles this file too: it includes nothing.
 */
#ifndef SW_DEVICE_MOVE_H
#define SW_DEVICE_MOVE_H

enum { SW_ROW, SW_PLANE, SW_BOX, SW_LIST, SW_RUNS, SW_SHAPES };

/* The unit of a kernel that takes 16 bytes at a time from any alignment. */
enum { SW_LOOSE = 32 };

#define SW_LEVELS 4    /* levels that need a division */
#define SW_THREADS 256 /* of a block */

typedef struct {
    unsigned long long multiplier; /* 0: the count is 1 */
    unsigned long long count;
    long long stride; /* bytes */
    unsigned int shift, unused;
} sw_level_t;

/* Level 0 is the innermost. Of LIST, level 0 is a run, and level 1 the runs of
 * an element; of RUNS, level 0 is an element. `stride` belongs to what remains
 * after the divisions: the outermost level, or the elements. */
typedef struct {
    unsigned long long base; /* address of unit 0 */
    unsigned long long skip; /* units before the message */
    long long stride;
    sw_level_t level[SW_LEVELS];
    unsigned int divided; /* levels */
    unsigned int scale, shift, unused;
    unsigned long long at; /* addresses of tables */
    unsigned long long before;
    unsigned long long first;
} sw_side_t;

typedef struct {
    sw_side_t source, target;
    unsigned long long units; /* of SW_LOOSE: bytes */
} sw_move_t;

/* Every kernel there is: K(width, source, target, unit). The narrow ones count
 * units and strides in 31 bits. The wide ones serve what remains, and treat a
 * row or a plane as a box. */
#define SW_KERNELS_OF_UNITS(K, w, s, t) \
    K(w, s, t, 1)                       \
    K(w, s, t, 2) K(w, s, t, 4) K(w, s, t, 8) K(w, s, t, 16) K(w, s, t, 32)
#define SW_KERNELS_OF_NARROW(K, s)           \
    SW_KERNELS_OF_UNITS(K, narrow, s, ROW)   \
    SW_KERNELS_OF_UNITS(K, narrow, s, PLANE) \
    SW_KERNELS_OF_UNITS(K, narrow, s, BOX)   \
    SW_KERNELS_OF_UNITS(K, narrow, s, LIST)  \
    SW_KERNELS_OF_UNITS(K, narrow, s, RUNS)
#define SW_KERNELS_OF_WIDE(K, s)          \
    SW_KERNELS_OF_UNITS(K, wide, s, BOX)  \
    SW_KERNELS_OF_UNITS(K, wide, s, LIST) \
    SW_KERNELS_OF_UNITS(K, wide, s, RUNS)
#define SW_KERNELS(K)              \
    SW_KERNELS_OF_NARROW(K, ROW)   \
    SW_KERNELS_OF_NARROW(K, PLANE) \
    SW_KERNELS_OF_NARROW(K, BOX)   \
    SW_KERNELS_OF_NARROW(K, LIST)  \
    SW_KERNELS_OF_NARROW(K, RUNS)  \
    SW_KERNELS_OF_WIDE(K, BOX)     \
    SW_KERNELS_OF_WIDE(K, LIST)    \
    SW_KERNELS_OF_WIDE(K, RUNS)

#define SW_KERNEL_COUNT ((5 * 5 + 3 * 3) * 6)

#endif
