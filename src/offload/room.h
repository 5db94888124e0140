/*
 * room.h - memory that peers map, from either of two places: the common zone of
 * the arena, or, where that is full, the pool of sequences (node/segment.h).
 *
 * What a member cannot do without comes from here, for schedules may not wait
 * for room. A *place* is an offset in either, and tells in which.
 */
#ifndef SW_OFFLOAD_ROOM_H
#define SW_OFFLOAD_ROOM_H

#include "node/peer.h"

/* n > 0 bytes, and in *place where; NULL: both are full. */
SW_API void *sw_room_take(size_t n, uint64_t *place);
SW_API void sw_room_give(void *p, uint64_t place); /* or NULL */

/* Is a place in the pool? And where does what it lies in begin, if p is there
 * as this process sees it? */
SW_API bool sw_room_is_pool(uint64_t place);
SW_API char *sw_room_begin(const void *p, uint64_t place);

/* What lies at a place of a peer's, or of this process's own. */
SW_API char *sw_room_at(const sw_peer_t *owner, uint64_t place);
SW_API char *sw_room_own(uint64_t place);

#endif
