/*
 * notices.h - shared memory that the members of a team find by a name.
 *
 * Slates for a nonblocking collective are wanted by a call that may not wait.
 * So no member can tell another where they are. The leader, member 0, takes a
 * block of its arena, and puts up a notice in a table that all its peers map:
 * this name, that offset. The others look until they find it.
 *
 *   head of the leader's segment:  -> table
 *   table:   | mask | name, offset | name, offset | ...   open addressing
 *   block:   | sw_notice_t | memory for the caller ...
 *
 * No two blocks of a leader ever have one name. So a member that looks for a
 * name has not left its block, and the leader cannot have freed that.
 *
 * The last member to leave a block pushes it on a stack in the leader's arena
 * (node/parcel_stack.h). The leader takes all of that back when it next puts or
 * leaves one. So it never looks at blocks that are in use. It closes the gaps in
 * its table, so that a member that looks in vain looks at a few entries.
 *
 * The leader leaves tables that have become too small where they are: a member
 * may still read there. They are smaller than the last one together.
 *
 * Memory order: the leader writes the block, then its offset, then the name
 * (release). A member that loads the name (acquire) sees the rest. `changes` is
 * odd while the leader moves entries. A member reads it before and after its
 * search. Where the two differ, or are odd, the member has found nothing yet: it
 * looks again later anyway. The leader stores an odd number before its entries
 * (release), so a member that loads one of these (acquire) then sees it.
 */
#ifndef SW_OFFLOAD_NOTICES_H
#define SW_OFFLOAD_NOTICES_H

#include "node/peer.h"

/* The leader's: a block for n members, named for the others, with `bytes` for
 * them, of which the first `zeroed` are zeros. Returns these. Ends the job with
 * a message when there is no memory: the others rely on it. */
SW_API char *sw_notice_put(uint64_t name, int n, size_t bytes, size_t zeroed);

/* Another member's: the same memory, or NULL: there is no notice yet, or this
 * look cannot tell. The caller looks again. */
SW_API char *sw_notice_find(const sw_peer_t *leader, uint64_t name);

/* A member, the leader too, looks no more at the memory of a block. */
SW_API void sw_notice_leave(char *memory);

/* Entries of tables that this process has looked at, for tests. */
SW_API extern _Atomic uint64_t sw_notice_steps;

#endif
