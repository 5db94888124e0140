/*
 * arena_impl.h - what the arena's own files share; nobody else includes it.
 *
 *   arena.c          the address range, the file, the rule for huge pages
 *   arena_extents.c  runs of pages: best fit, coalescing, give-back
 *   arena_blocks.c   blocks for the heap: size classes, thread caches, colour
 *   arena_dump.c     what a core dump holds
 *   arena_static.c   the program's globals, moved into the file
 *   arena_fork.c     private copies for a forked child
 *
 * Arrows: blocks -> extents -> dump; fork -> blocks, extents; arena -> all.
 */
#ifndef SW_ARENA_IMPL_H
#define SW_ARENA_IMPL_H

#include "arena.h"
#include "os.h"

#define SW_HUGE ((size_t)2 << 20)
#define SW_NO_PAGE UINT32_MAX
#define SW_SPAN_MAX ((size_t)256 << 30)     /* of the heap part           */

/* Extents ------------------------------------------------------------- */

/* Size classes, in pages: 1 2 3 4 5 6 7 8 10 12 14 16 20 ..., four to each
 * doubling. The class of an extent is the largest that it can serve. */
static inline int sw_class_of(uint32_t pages)
{
    if (pages < 4)
        return (int)pages - 1;
    int shift = 29 - __builtin_clz(pages);
    return shift * 4 + (int)(pages >> shift) - 1;
}

/* The least class size that holds `pages`. */
static inline uint32_t sw_class_up(uint32_t pages)
{
    if (pages < 8)
        return pages;
    int shift = 29 - __builtin_clz(pages);
    uint32_t step = 1u << shift;
    return (pages + step - 1) & ~(step - 1);
}

/* One record per page of the arena, of which only an extent's first and last
 * count. `head` holds the state and the extent's length. */
typedef struct {
    _Atomic uint32_t head;
    uint32_t dirty;         /* pages that may hold old data               */
    uint32_t next, prev;    /* free: neighbours in the bin                */
} sw_page_t;

enum {
    SW_PAGE_INNER,          /* not the first page of anything             */
    SW_PAGE_TAIL,           /* last page of a free extent                 */
    SW_PAGE_FREE,           /* first page of a free extent, in a bin      */
    SW_PAGE_BUSY,           /* free, being given back                     */
    SW_PAGE_CACHED,         /* a block in some thread's cache             */
    SW_PAGE_USED,           /* a block the program holds                  */
};
#define SW_HEAD_SHIFT 28
#define SW_HEAD(state, pages) ((uint32_t)(state) << SW_HEAD_SHIFT | (pages))
#define SW_HEAD_STATE(head) ((head) >> SW_HEAD_SHIFT)
#define SW_HEAD_PAGES(head) ((head) & ((1u << SW_HEAD_SHIFT) - 1))

extern sw_page_t *sw_pages;     /* the records; NULL: no arena            */

static inline uint32_t sw_page_head(uint32_t page)
{
    return atomic_load_explicit(&sw_pages[page].head, memory_order_relaxed);
}

static inline void sw_page_mark(uint32_t page, int state, uint32_t pages)
{
    atomic_store_explicit(&sw_pages[page].head, SW_HEAD(state, pages),
                          memory_order_relaxed);
}

static inline char *sw_page_address(uint32_t page)
{
    return sw_arena.range[0].start + (size_t)page * SW_PAGE;
}

static inline uint32_t sw_page_of(const void *p)
{
    return (uint32_t)(((const char *)p - sw_arena.range[0].start) / SW_PAGE);
}

/* Bytes of address space the records of `size` bytes of arena take. */
static inline size_t sw_extents_room(size_t size)
{
    return sw_round_up((size / SW_PAGE + 1) * sizeof(sw_page_t), SW_HUGE);
}

bool sw_extents_start(size_t size);
/* An extent of at least `pages`, marked used, or SW_NO_PAGE. `align` in pages.
 * Its record's `dirty` is 0 when the memory is known to read as zeros. */
uint32_t sw_extents_take(uint32_t pages, uint32_t align);
void sw_extents_give(const uint32_t *page, int count);
/* Make a used extent `pages` long where it stands; true when done. */
bool sw_extents_resize(uint32_t page, uint32_t pages);
/* Forget a used extent's contents: it reads as zeros. False: it does not. */
bool sw_extents_wipe(uint32_t page);
void sw_extents_stats(sw_arena_stats_t *to);

/* For arena_fork.c. Between lock and unlock (or forked, in the child) no
 * extent changes hands except used <-> cached. */
void sw_extents_lock(void);
void sw_extents_unlock(void);
uint32_t sw_extents_top(void);
/* In the child: the memory is private now, free extents read as zeros, and
 * the caches of the threads that did not come along are free. `limit`: pages
 * that may be used. Leaves the lock free. */
void sw_extents_forked(uint32_t limit);

/* Core dumps ---------------------------------------------------------- */

/* Let an extent's memory into core dumps. */
void sw_dump_in(uint32_t page, uint32_t pages);
/* Leave an extent's memory, which holds nothing, out of them. */
void sw_dump_out(uint32_t page, uint32_t pages);

/* Blocks -------------------------------------------------------------- */

bool sw_blocks_start(void);
/* Empty the calling thread's cache. */
void sw_blocks_flush(void);

/* Fork and static data ------------------------------------------------ */

bool sw_fork_start(void);

/* Find what can be adopted: fills ranges 1.. with addresses, sizes and file
 * offsets from `offset` on, and returns the end of the last. */
size_t sw_static_find(size_t offset, size_t largest);
/* Move the ranges found into the file; those that fail are dropped. */
void sw_static_adopt(void);
/* Tests: adopt also where no MPI library is loaded. */
extern bool sw_static_always;

#endif
