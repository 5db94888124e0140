/*
 * parcel.h - blocks that change hands between processes.
 *
 * A parcel is a block of its owner's arena, shared from birth. Any process of
 * the node may hold it: it reads, writes and frees it through the mapping of
 * the owner's arena that it has anyway. Handing it over costs the same at any
 * size. The owner is the process from whose arena it comes, for ever; the
 * holder is the process that may use it now.
 *
 *     owner's arena
 *       | ... | head | the holder's bytes ............... | ... | stack |
 *               |    ^ what the program sees                      ^
 *               +--- where freed ones are stacked ----------------+
 *
 * A stranger frees a parcel by pushing it on the owner's stack, which lies in
 * the same arena. The owner takes the whole stack when it allocates or gives
 * (parcel.c has the argument). An owner that has ended takes nothing along: the
 * mappings of the others hold the memory. What a process holds when it is
 * killed never comes back to the owner.
 *
 * A forked child gets private copies of what its parent holds, at the same
 * addresses. It can free them, and hand none over.
 */
#ifndef SW_NODE_PARCEL_H
#define SW_NODE_PARCEL_H

#include "peer.h"

/* Blocks that are smaller than this many bytes are no parcels: to copy them
 * costs less than two pages. */
#define SW_PARCEL_MIN ((size_t)4096)

/* How processes name a parcel to each other: the owner, and where the holder's
 * bytes lie in its arena's file. `at` is 0: none. */
typedef struct {
    sw_token_t owner;
    uint64_t at;
} sw_parcel_name_t;

typedef enum {
    SW_PARCEL_NONE,   /* no parcel: another kind of block */
    SW_PARCEL_HELD,   /* ours */
    SW_PARCEL_GONE,   /* given away, freed, or another process's */
    SW_PARCEL_INSIDE, /* in memory of parcels, but where none begins */
} sw_parcel_kind_t;

/* Are there to be parcels? Set once the arena stands, where the program's free
 * is ours. */
SW_API extern bool sw_parcel_on;

/* A new one, or NULL: there are none, or the arena is full. */
SW_API void *sw_parcel_alloc(size_t bytes);

/* `bytes` gets what a parcel that is held has room for. */
SW_API sw_parcel_kind_t sw_parcel_look(const void *p, size_t *bytes);
/* Bytes that a parcel has room for; 0: p is none. */
SW_API size_t sw_parcel_bytes(const void *p);

/* For the heap's entry points. Has this process ever had a parcel? */
SW_API extern _Atomic bool sw_parcel_any;
/* True: it was a parcel. One that this process does not hold ends the
 * program, as the heap would. */
SW_API bool sw_parcel_free(void *p);
/* True: it was a parcel, and *to is the new block, or NULL: the old one
 * stands. */
SW_API bool sw_parcel_resize(void *p, size_t bytes, void **to);

/* The holder gives it away. */
SW_API sw_parcel_name_t sw_parcel_give(void *p);
/* It will soon be accepted: ask for its head. */
SW_API void sw_parcel_prefetch(const sw_parcel_name_t *name);
/* Where a parcel's bytes are; NULL: not in reach. */
SW_API void *sw_parcel_find(const sw_parcel_name_t *name);
/* The process that was given it holds it. NULL: not in reach. */
SW_API void *sw_parcel_accept(const sw_parcel_name_t *name);
/* ... and wants none of it. */
SW_API void sw_parcel_drop(const sw_parcel_name_t *name);

/* For --stats and tests: parcels that came back from strangers. */
SW_API uint64_t sw_parcel_returns(void);

#endif
