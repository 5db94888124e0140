/*
 * arena.h - the memory that peers can reach with plain loads and stores.
 *
 * A process's arena is one stretch of reserved address space, and one memfd of
 * the same size. Big heap blocks live in it, and what this library itself
 * shares with peers. Every peer maps the whole file once, so that an address p
 * of the owner is the peer's `map + (p - base)`: two instructions, and nothing
 * that could go stale.
 *
 *      base                                             base + size
 *       | heap zone: private pages,      |  | common zone:       |
 *       | shown when it is worth it      |  | shared from birth  |
 *       +---------------------------------+--+--------------------+
 *       file offset 0
 *
 * Static data keeps its own address. It has a place in the same file, and is
 * shown as heap blocks are (show.h).
 */
#ifndef SW_NODE_ARENA_ARENA_H
#define SW_NODE_ARENA_ARENA_H

#include "node/os/os.h"

/* A stretch of this process's addresses that has a place in the arena's
 * file. */
typedef struct {
    char *start;     /* first address */
    size_t size;     /* bytes */
    uint64_t offset; /* where it lies in the file */
} sw_arena_range_t;

#define SW_ARENA_RANGES 16

/* What a peer must know to map this process's arena. range[0] holds the
 * blocks of both zones; the others are static data, in address order.
 * Constant once sw_arena_start has returned (before main); in a forked
 * child, fd is -1 and count 0: its memory is its own. */
typedef struct {
    int fd;            /* -1: this process has no arena */
    sw_file_id_t file; /* the program may close fd, and use it anew */
    size_t span;       /* size of the file, in bytes */
    int count;         /* ranges in use */
    sw_arena_range_t range[SW_ARENA_RANGES];
} sw_arena_t;

SW_API extern sw_arena_t sw_arena;

/* Set the arena up: reserve, map, find static data. Called once by the
 * library's constructor, after the settings are loaded; single threaded. On
 * any failure sw_arena.fd stays -1, one line says why if verbose, and the
 * heap serves everything. */
void sw_arena_start(void);

/* Which place in the arena's file belongs to `p`, or UINT64_MAX if [p, p+n) is
 * not wholly inside one range. The address is ours; that says nothing of what
 * peers see at this place. They see memory that sw_show_at_birth or sw_show
 * finds (show.h). */
static inline uint64_t sw_arena_offset(const void *p, size_t n)
{
    for (int i = 0; i < sw_arena.count; i++) {
        size_t at = (size_t)((const char *)p - sw_arena.range[i].start);
        if (at < sw_arena.range[i].size)
            return n <= sw_arena.range[i].size - at
                       ? sw_arena.range[i].offset + at
                       : UINT64_MAX;
    }
    return UINT64_MAX;
}

/* The other way: what lies at this offset, in one of the ranges. */
static inline char *sw_arena_at(uint64_t offset)
{
    int i = 0;
    while (i < sw_arena.count &&
           offset - sw_arena.range[i].offset >= sw_arena.range[i].size)
        i++;
    sw_assert(i < sw_arena.count);
    return sw_arena.range[i].start + (offset - sw_arena.range[i].offset);
}

/* Blocks. Sizes in bytes; alignment a power of two (at least 64 is given).
 * NULL when the arena is off or full: the caller goes to libc. Thread safe.
 * Contents are undefined, except for sw_arena_calloc. */
SW_API void *sw_arena_alloc(size_t size, size_t align);
/* The same where peers read and write it as it is, from its birth. NULL: the
 * common zone is full. No block of the heap's zone may stand in for one of
 * these: peers would read what its place in the file holds. */
SW_API void *sw_arena_alloc_shared(size_t size, size_t align);
SW_API void *sw_arena_calloc(size_t size);
SW_API void sw_arena_free(void *p);
/* Grow or shrink in place if possible; true when done. */
SW_API bool sw_arena_resize(void *p, size_t size);
/* Move a block's contents, without copying it, to a new one with room for
 * `size` bytes; it keeps `keep` of them. NULL: not possible, and nothing has
 * changed. */
SW_API void *sw_arena_move(void *p, size_t keep, size_t size);
/* Bytes the block at p can hold. */
SW_API size_t sw_arena_usable(const void *p);

/* Where the live block begins in whose first page p lies; NULL: in none. */
SW_API void *sw_arena_begin(const void *p);

/* What else a forked child needs private copies of: `copy` has them made, in
 * the child, one call for each stretch of pages. Not set: nothing. */
typedef struct {
    void (*lock)(void), (*unlock)(void);
    bool (*try)(void); /* to lock */
    bool (*any)(void);
    void (*copy)(void (*make_private)(void *start, size_t size));
} sw_fork_also_t;
SW_API extern const sw_fork_also_t *_Atomic sw_fork_also;

/* Registers this room's fork handlers, once, by `real` (libc's
 * __register_atfork), or NULL: pthread_atfork. Those that are registered first
 * run last before a fork, and first after it: so no other library may come
 * before. False: refused. */
typedef int sw_fork_register_t(void (*prepare)(void), void (*parent)(void),
                               void (*child)(void), void *object);
SW_API bool sw_fork_watch(sw_fork_register_t *real);

/* fork for a caller whose stack may lie in the arena (a coroutine on a block
 * of the heap); `real` is libc's. */
SW_API pid_t sw_arena_fork(pid_t (*real)(void));
/* The same around libc's _Fork, which calls no handlers. Its caller's stack
 * does not lie in the arena. */
SW_API pid_t sw_arena_fork_bare(pid_t (*real)(void));
/* The same around libc's clone, without CLONE_VM and CLONE_SETTLS. */
typedef int sw_clone_t(int (*run)(void *), void *stack, int flags, void *with,
                       ...);
SW_API int sw_arena_clone(sw_clone_t *real, int (*run)(void *), void *stack,
                          int flags, void *with, pid_t *parent_id,
                          pid_t *child_id);

/* True for addresses of any thread's blocks. */
static inline bool sw_arena_is_block(const void *p)
{
    return (size_t)((const char *)p - sw_arena.range[0].start) <
           sw_arena.range[0].size;
}

/* Above this size private memory gets huge pages and shared memory does not, so
 * it is not worth sharing. SIZE_MAX: no such limit. */
SW_API extern size_t sw_arena_plain_max;
/* Heap blocks of this size and above stay with libc: where the heap is shared
 * from its birth, for that reason. MPI_Alloc_mem is not bound by it. */
SW_API extern size_t sw_arena_heap_limit;

/* For --stats and tests. */
typedef struct {
    size_t in_use, in_use_peak, kept, given_back; /* bytes */
    uint64_t allocations, reused;
} sw_arena_stats_t;
SW_API void sw_arena_stats(sw_arena_stats_t *to);

#endif
