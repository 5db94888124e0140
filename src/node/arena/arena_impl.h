/*
 * arena_impl.h - what the arena's own files share; no other file includes it.
 *
 *   arena.c          the address range, the file, the rule for huge pages
 *   arena_extents.c  runs of pages: best fit, coalescing, give-back
 *   arena_blocks.c   blocks for the heap: size classes, thread caches, colour
 *   arena_open.c     which parts may be touched, and dumped
 *   arena_show.c     private pages become shared
 *   arena_hide.c     shared pages become private
 *   arena_gate.c     whether either may be
 *   arena_said.c     what the program has said of its pages
 *   arena_bits.c     how each page stands
 *   arena_static.c   the program's globals
 *   arena_fork.c     private copies for a forked child
 *
 * Arrows: blocks -> extents -> open, said, hide; said -> hide; show, hide ->
 * gate -> bits; show -> blocks (where one begins and ends); fork -> blocks,
 * extents, show; arena -> all.
 */
#ifndef SW_NODE_ARENA_ARENA_IMPL_H
#define SW_NODE_ARENA_ARENA_IMPL_H

#include "node/os/os.h"
#include "show.h"

#include <pthread.h>

#define SW_HUGE ((size_t)2 << 20)
#define SW_NO_PAGE UINT32_MAX
#define SW_SPAN_MAX ((size_t)321 << 30) /* of both zones together */

/* Extents ------------------------------------------------------------- */

/* Size classes, in pages: 1 2 3 4 5 6 7 8 10 12 14 16 20 ..., four to each
 * doubling. The class of an extent is the largest that it can serve. */
static inline int sw_arena_class_of(uint32_t pages)
{
    if (pages < 4)
        return (int)pages - 1;
    int shift = 29 - __builtin_clz(pages);
    return shift * 4 + (int)(pages >> shift) - 1;
}

/* The least class size that holds `pages`. */
static inline uint32_t sw_arena_class_up(uint32_t pages)
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
    uint32_t dirty;      /* free: pages that may hold old data */
    uint32_t next, prev; /* free: neighbours in the bin */
} sw_page_t;

/* What may be resident of an extent: `count` pages at most, within [low,
 * high). None: it reads as zeros. */
typedef struct {
    uint32_t count, low, high;
} sw_dirt_t;

static inline sw_dirt_t sw_arena_all_dirty(uint32_t page, uint32_t pages)
{
    return (sw_dirt_t){pages, page, page + pages};
}

enum {
    SW_PAGE_INNER,  /* not the first page of anything */
    SW_PAGE_TAIL,   /* last page of a free extent */
    SW_PAGE_FREE,   /* first page of a free extent, in a bin */
    SW_PAGE_BUSY,   /* free, being given back */
    SW_PAGE_CACHED, /* a block in some thread's cache */
    SW_PAGE_USED,   /* a block the program holds */
};
#define SW_HEAD_SHIFT 28
#define SW_HEAD(state, pages) ((uint32_t)(state) << SW_HEAD_SHIFT | (pages))
#define SW_HEAD_STATE(head) ((head) >> SW_HEAD_SHIFT)
#define SW_HEAD_PAGES(head) ((head) & ((1u << SW_HEAD_SHIFT) - 1))

extern sw_page_t *sw_pages; /* the records; NULL: no arena */

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

/* The arena has two zones, each with extents of its own. The heap's zone has
 * private pages, which may be shown; with STRAIGHTWAY_SHOW=eager they are
 * shared. The common zone's pages are shared from their birth: copies for
 * peers, layouts, MPI_Alloc_mem. */
#define SW_BINS 128

typedef enum {
    SW_ZONE_PRIVATE,
    SW_ZONE_SHARED,
    SW_ZONE_GIVEN, /* was shared; a forked child's own now */
} sw_zone_kind_t;

typedef struct {
    uint32_t first[SW_BINS];
    uint64_t filled[SW_BINS / 64];
} sw_bins_t;

typedef struct {
    sw_zone_kind_t kind;
    pthread_mutex_t lock;
    uint32_t first, end; /* its pages in the arena */
    /* Pages below were handed out once. Written with the lock; free looks
     * without it, at a block that was handed out before. */
    _Atomic uint32_t top;
    size_t table_ready; /* the table is mapped up to here */
    sw_bins_t bins[2];  /* of clean extents, of dirty ones */
    bool punching;
    size_t refused; /* pages kept when the system refused */
    size_t out, out_peak, kept, given_back; /* pages */
    size_t slack;                           /* at least; see arena_extents.c */
    size_t since_wider; /* pages given back since it was less */
} sw_zone_t;

extern sw_zone_t sw_heap_zone, sw_common_zone;

static inline sw_zone_t *sw_zone_of(uint32_t page)
{
    return page >= sw_common_zone.first ? &sw_common_zone : &sw_heap_zone;
}

static inline uint32_t sw_zone_top(const sw_zone_t *z)
{
    return atomic_load_explicit(&((sw_zone_t *)(uintptr_t)z)->top,
                                memory_order_relaxed);
}

/* The heap zone has `heap` pages from page 0, shared or not; the common one has
 * `pages` from page `common`. */
bool sw_extents_start(bool shared, uint32_t heap, uint32_t common,
                      uint32_t pages);
/* An extent of `pages`, marked used, or SW_NO_PAGE. `align` in pages. What is
 * not within its dirt reads as zeros. */
uint32_t sw_extents_take(sw_zone_t *z, uint32_t pages, uint32_t align,
                         sw_dirt_t *dirt);
void sw_extents_give(sw_zone_t *z, const uint32_t *page, int count);
/* Make a used extent `pages` long where it stands; true when done. */
bool sw_extents_resize(uint32_t page, uint32_t pages);
/* Forget what pages of a used extent hold: they read as zeros. False: they do
 * not. */
bool sw_extents_wipe(uint32_t page, uint32_t pages);
void sw_extents_stats(sw_arena_stats_t *to);

/* For arena_fork.c. Between lock and unlock (or forked, in the child) no
 * extent changes hands except used <-> cached. */
void sw_extents_lock(void);
void sw_extents_unlock(void);
bool sw_extents_try(void); /* to lock */
/* In the child, whose memory is private now: free extents of what was shared
 * read as zeros, and the caches of the parent's other threads become free
 * (unless `keep`: this thread's cache is not empty). `end`: pages that may be
 * used. Leaves the lock free. */
void sw_extents_forked(sw_zone_t *z, uint32_t end, bool keep);

/* Open and closed ------------------------------------------------------ */

/* An extent's memory may be touched from here on. False: the system refuses. */
bool sw_arena_open(const sw_zone_t *z, uint32_t page, uint32_t pages);
/* An extent's memory, which holds nothing, is left out of dumps, and of what
 * mlockall locks. */
void sw_arena_close(const sw_zone_t *z, uint32_t page, uint32_t pages);

/* Whether libc's heap would ask for huge pages. */
extern bool sw_arena_asks_huge;
/* Does shared memory get huge pages where its mapping asks for them? */
bool sw_arena_shared_asks_huge(void);
/* Bytes of a buffer above which it stays private where the program has asked
 * for huge pages. SIZE_MAX: no such limit. */
extern size_t sw_arena_asked_max;

/* Showing --------------------------------------------------------------- */

void sw_show_start(void);
/* Make an extent's pages private, without contents. False: refused. */
bool sw_show_forget(uint32_t page, uint32_t pages);
void sw_show_lock(void);
void sw_show_unlock(void);
bool sw_show_try(void); /* to lock */
/* The first run of shown pages of the file in [*first, end): true, with
 * *first and *pages. */
bool sw_show_next(uint64_t *first, uint64_t end, uint64_t *pages);
/* In the child: nothing is shown any more. */
void sw_show_forked(void);
void sw_show_unhold(void);

/* Something was said of blocks in [sw_arena_said_low, sw_arena_said_high). Few
 * programs say anything. */
extern _Atomic uintptr_t sw_arena_said_low, sw_arena_said_high;
bool sw_arena_said_end_slow(uint32_t page, uint32_t pages);

/* Pages of a block that is no more are plain again. False: they are not, so
 * no block can use them. */
static inline bool sw_arena_said_end(uint32_t page, uint32_t pages)
{
    uintptr_t start = (uintptr_t)sw_page_address(page);
    return sw_likely(start >= atomic_load_explicit(&sw_arena_said_high,
                                                   memory_order_relaxed)) ||
           start + (size_t)pages * SW_PAGE <=
               atomic_load_explicit(&sw_arena_said_low, memory_order_relaxed) ||
           sw_arena_said_end_slow(page, pages);
}
/* A block moves with its pages, and what was said of it goes along. False: that
 * cannot be. */
bool sw_arena_said_moves(uint32_t from, uint32_t to, uint32_t pages);
/* Pages hold nothing and are closed: the wish for huge ones has gone. */
void sw_arena_said_closed(uint64_t first, uint64_t end);
/* In the child, whose memory is private by now. */
void sw_arena_said_forked(void);

/* Blocks -------------------------------------------------------------- */

bool sw_blocks_start(void);
/* Where the block that begins at p ends, as the program asked; 0: none begins
 * there. */
uintptr_t sw_block_end(const void *p);
/* Empty the calling thread's cache. */
void sw_blocks_flush(void);

/* Fork and static data ------------------------------------------------ */

/* `spare`: a page that stays shared in a child. */
bool sw_fork_start(char *spare);

/* Find what can be adopted: fills ranges 1.. with addresses, sizes and file
 * offsets from `offset` on, and returns the end of the last. */
size_t sw_static_find(size_t offset, size_t largest);
/* Move the ranges found into the file (eager); those that fail are dropped. */
void sw_static_adopt(void);
/* Tests: adopt also where no MPI library is loaded. */
extern bool sw_static_always;

#endif
