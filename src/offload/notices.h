/*
 * notices.h - shared memory that the members of a team find by a name.
 *
 * Slates for a nonblocking collective are wanted by a call that may not wait.
 * So no member can tell another where they are. The leader, member 0, takes a
 * block of its arena, and puts up a notice in a table that all its peers map:
 * this name, that offset. The others look until they find it. Where the common
 * zone is full, the pool of sequences serves (node/segment.h), which they map,
 * too.
 *
 *   head of the leader's segment:  -> table
 *   table:   | mask | name, offset | name, offset | ...   open addressing
 *   block:   | sw_notice_t | memory for the caller ...
 *
 * No two blocks of a leader ever have one name. So a member that looks for a
 * name has not left its block, and the leader cannot have freed that.
 *
 * A leader without room for a block *refuses* its name, in the same table, and
 * for good. Without room in the table either, it refuses all names to come: a
 * word in the head of its segment says so. So no member waits for a notice that
 * never comes.
 *
 * The last member to leave a block pushes it on a stack of the leader's
 * (node/parcel_stack.h): one for the arena's blocks, one for the pool's. The
 * leader takes all of that back when it next puts or leaves one. So it never
 * looks at blocks that are in use. It closes the gaps in its table, so that a
 * member that looks in vain looks at a few entries.
 *
 * The leader leaves tables that have become too small where they are: a member
 * may still read there. They are smaller than the last one together.
 *
 * Memory order: the leader writes the block, then its offset, then the name
 * (release). A member that loads the name (acquire) sees the rest. `changes` is
 * odd while the leader moves entries. A member reads it before and after its
 * search. Where the two differ, or are odd, the member has found nothing yet:
 * it looks again later anyway. The leader stores an odd number before its
 * entries (release), so a member that loads one of these (acquire) then sees
 * it. A member loads the word of the refusals before it looks: what it then
 * misses, and misses for sure, was never put up.
 */
#ifndef SW_OFFLOAD_NOTICES_H
#define SW_OFFLOAD_NOTICES_H

#include "node/peer.h"

/* What the leader wants: a block for n members, named for the others. */
typedef struct {
    uint64_t name;
    int n;
    uint32_t note;        /* a word for them */
    size_t bytes, zeroed; /* the first ones are zeros */
    bool anywhere;        /* in the pool of sequences, too */
} sw_notice_want_t;

/* Returns the block's memory. NULL: there is no room, or the name is
 * refused. */
SW_API char *sw_notice_put(const sw_notice_want_t *want);
/* The leader's: there will never be a block of this name. */
SW_API void sw_notice_refuse(uint64_t name);

/* Another member's: the same memory, and its note. NULL: there is no notice
 * yet, or this look cannot tell; or there will be none, if *refused becomes
 * true. */
SW_API char *sw_notice_find(const sw_peer_t *leader, uint64_t name,
                            uint32_t *note, bool *refused);

/* A member, the leader too, looks no more at the memory of a block. */
SW_API void sw_notice_leave(char *memory);

/* Entries of tables that this process has looked at, for tests. */
SW_API extern _Atomic uint64_t sw_notice_steps;

#endif
