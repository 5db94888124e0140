/*
 * arena.h - the memory that peers can reach with plain loads and stores.
 *
 * A process's arena is one memfd mapped MAP_SHARED in one stretch of reserved
 * address space. Big heap blocks and the program's static data live in it.
 * Every peer maps the whole file once, so that an address p of the owner is
 * the peer's `map + (p - base)`: two instructions, and nothing that could go
 * stale.
 *
 *      base                                             base + span
 *       | used blocks, free blocks | never touched ...      |
 *       +---------------------------+------------------------+
 *       file offset 0               top                    span
 *
 * Static data that was moved keeps its own address: it is mapped from the same
 * file, in the adopted ranges below.
 */
#ifndef SW_ARENA_H
#define SW_ARENA_H

#include "os.h"

/* A stretch of this process's addresses that is backed by the arena's file. */
typedef struct {
    char *start;        /* first address                                   */
    size_t size;        /* bytes                                           */
    uint64_t offset;    /* where it lies in the file                       */
} sw_arena_range_t;

#define SW_ARENA_RANGES 16

/* What a peer must know to map this process's arena. range[0] is the heap
 * part; the others are adopted static data, in address order. Constant once
 * sw_arena_start has returned (before main); in a forked child, fd is -1 and
 * count 0: its memory is its own. */
typedef struct {
    int fd;             /* -1: this process has no arena                   */
    sw_file_id_t file;  /* the program may close fd, and use it anew       */
    size_t span;        /* size of the file, in bytes                      */
    int count;          /* ranges in use                                   */
    sw_arena_range_t range[SW_ARENA_RANGES];
} sw_arena_t;

SW_API extern sw_arena_t sw_arena;

/* Set the arena up: reserve, map, adopt static data. Called once by the
 * library's constructor, after the settings are loaded; single threaded. On
 * any failure sw_arena.fd stays -1, one line says why if verbose, and the
 * heap serves everything. */
void sw_arena_start(void);

/* Where `p` lies in the arena's file, or UINT64_MAX if [p, p+n) is not wholly
 * inside one range: then peers reach it by CMA or copies. */
static inline uint64_t sw_arena_offset(const void *p, size_t n)
{
    for (int i = 0; i < sw_arena.count; i++) {
        size_t at = (size_t)((const char *)p - sw_arena.range[i].start);
        if (at < sw_arena.range[i].size)
            return n <= sw_arena.range[i].size - at
                       ? sw_arena.range[i].offset + at : UINT64_MAX;
    }
    return UINT64_MAX;
}

/* Blocks. Sizes in bytes; alignment a power of two (at least 64 is given).
 * NULL when the arena is off or full: the caller goes to libc. Thread safe.
 * Contents are undefined, except for sw_arena_calloc. */
SW_API void *sw_arena_alloc(size_t size, size_t align);
SW_API void *sw_arena_calloc(size_t size);
SW_API void sw_arena_free(void *p);
/* Grow or shrink in place if possible; true when done. */
SW_API bool sw_arena_resize(void *p, size_t size);
/* Bytes the block at p can hold. */
SW_API size_t sw_arena_usable(const void *p);

/* fork for a caller whose stack may lie in the arena (a coroutine on a block
 * of the heap); `real` is libc's. */
SW_API pid_t sw_arena_fork(pid_t (*real)(void));

/* True for addresses of the heap part (blocks), whoever allocated them. */
static inline bool sw_arena_is_block(const void *p)
{
    return (size_t)((const char *)p - sw_arena.range[0].start) <
           sw_arena.range[0].size;
}

/* Heap blocks of this size and above stay with libc: there they get huge
 * pages and here they would not. SIZE_MAX: no such limit. MPI_Alloc_mem is
 * not bound by it. */
SW_API extern size_t sw_arena_heap_limit;

/* For --stats and tests. */
typedef struct {
    size_t in_use, in_use_peak, kept, given_back;   /* bytes */
    uint64_t allocations, reused;
} sw_arena_stats_t;
SW_API void sw_arena_stats(sw_arena_stats_t *to);

#endif
