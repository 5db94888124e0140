/*
 * lookup.h - numbers, or addresses, by number: a hash table with open
 * addressing, no more than half full.
 *
 *     sw_lookup_t map = {0};
 *     *sw_lookup_put(&map, key) = value;         NULL: no memory
 *     uint64_t *value = sw_lookup_get(&map, key);
 *     sw_lookup_remove(&map, key);
 *     sw_lookup_free(&map);
 *
 * Values stay where they are until the next put or remove. A key is any number
 * but UINT64_MAX.
 */
#ifndef SW_VTIME_BASE_LOOKUP_H
#define SW_VTIME_BASE_LOOKUP_H

#include "node/base/base.h"

typedef struct {
    uint64_t key; /* and 1; 0: free */
    uint64_t value;
} sw_lookup_entry_t;

typedef struct {
    sw_lookup_entry_t *entries;
    size_t room, used; /* room: a power of two, or 0 */
} sw_lookup_t;

/* The value of a key, a new one being 0. */
uint64_t *sw_lookup_put(sw_lookup_t *map, uint64_t key);
/* NULL: it is not there. */
uint64_t *sw_lookup_get(const sw_lookup_t *map, uint64_t key);
void sw_lookup_remove(sw_lookup_t *map, uint64_t key);
/* Empty, its room kept. */
void sw_lookup_clear(sw_lookup_t *map);
void sw_lookup_free(sw_lookup_t *map);

/* Where the values are addresses: that of a key, or NULL. */
static inline void *sw_lookup_find(const sw_lookup_t *map, uint64_t key)
{
    const uint64_t *value = sw_lookup_get(map, key);
    return value ? (void *)(uintptr_t)*value : NULL;
}

/* In place of what was there. False: no memory. */
static inline bool sw_lookup_set(sw_lookup_t *map, uint64_t key, void *to)
{
    uint64_t *value = sw_lookup_put(map, key);
    if (value)
        *value = (uintptr_t)to;
    return value;
}

static inline uint64_t sw_lookup_mix(uint64_t key)
{
    key *= 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

#endif
