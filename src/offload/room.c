/*
 * room.c - see room.h.
 */
#include "room.h"

#include "node/arena/arena.h"
#include "node/temporary.h"

/* Of a place: it is in the pool. */
#define POOL (UINT64_C(1) << 63)

void *sw_room_take(size_t n, uint64_t *place)
{
    void *p = sw_temporary_shared(n, place);
    uint64_t offset = p ? 0 : sw_segment_alloc(SW_PAIR + n, SW_PAIR, 1);
    if (!offset)
        return p;
    *place = POOL | (offset + SW_PAIR);
    return sw_segment()->base + offset + SW_PAIR;
}

void sw_room_give(void *p, uint64_t place)
{
    if (p && place & POOL)
        sw_segment_leave((sw_block_t *)(void *)((char *)p - SW_PAIR));
    else
        sw_temporary_free(p);
}

bool sw_room_is_pool(uint64_t place)
{
    return place & POOL;
}

char *sw_room_begin(const void *p, uint64_t place)
{
    return (char *)(uintptr_t)p - (place & ~POOL);
}

char *sw_room_at(const sw_peer_t *owner, uint64_t place)
{
    return place & POOL ? owner->control + (place & ~POOL)
                        : owner->arena + place;
}

char *sw_room_own(uint64_t place)
{
    return place & POOL ? sw_segment()->base + (place & ~POOL)
                        : sw_arena_at(place);
}
