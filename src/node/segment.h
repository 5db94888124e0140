/*
 * segment.h - a process's control segment: the pool of communicator blocks.
 *
 * Each process owns one memfd of control memory, apart from its arena. When a
 * communicator is set up, its first member (the leader) takes a block from
 * its own pool and tells the others where; they map the leader's segment and
 * meet there.
 *
 *      0            SW_PAGE                                   span
 *      | head: token | block | block | ... | untouched ...     |
 *
 * A block starts with sw_block_t. `members` counts those that still use it. The
 * leader alone allocates; the last member to leave makes the count zero, and
 * the leader finds that out when it next needs a block. So no member waits for
 * another when the program frees a communicator. The leader never reuses a
 * block while a slow member still reads in it.
 *
 * The file is sparse. The pool's size bounds its address space; it takes memory
 * only where a communicator has written.
 */
#ifndef SW_NODE_SEGMENT_H
#define SW_NODE_SEGMENT_H

#include "node/os/os.h"
#include "parcel_stack.h"

/* A process's identity: 128 random bits, made when the segment is. */
typedef struct {
    uint64_t word[2];
} sw_token_t;

typedef struct {
    sw_token_t token;         /* proves that a mapping is of this process */
    _Atomic uint64_t notices; /* their place: offload/notices.h */
    sw_parcel_stack_t left;   /* blocks of notices in this segment */
    _Atomic uint32_t no_more; /* no notice will be put up any more */
} sw_segment_head_t;

typedef struct {
    _Atomic int32_t members;
    _Atomic int32_t given_up; /* coll/sequence.h: a member has given up */
    _Atomic int32_t asks;     /* coll/ask.h: a member has asked */
    uint64_t size;            /* of the block, bytes */
} sw_block_t;

typedef struct {
    int fd;            /* -1: none could be made */
    sw_file_id_t file; /* the program may close fd, and use it anew */
    size_t span;       /* size of the file */
    char *base;        /* this process's mapping */
    sw_token_t token;
} sw_segment_t;

/* This process's segment, made at the first call. Thread safe. NULL with
 * errno when the system refuses. */
SW_API const sw_segment_t *sw_segment(void);

/* A block of at least `size` bytes (with its header) for `members` processes,
 * zeroed in its first `zero` bytes. Returns its offset in the segment, or 0
 * when the pool is full. Thread safe. */
SW_API uint64_t sw_segment_alloc(size_t size, size_t zero, int members);

/* Leave a block (any member, through its own mapping). */
static inline void sw_segment_leave(sw_block_t *block)
{
    atomic_fetch_sub_explicit(&block->members, 1, memory_order_release);
}

/* Bytes of the pool handed out now and at most, for --stats and tests. */
SW_API void sw_segment_usage(size_t *now, size_t *peak);

#endif
