/*
 * map.h - from numbers other than 0 to addresses: a hash table with open
 * addresses, no more than half full.
 */
#ifndef SW_VTIME_BASE_MAP_H
#define SW_VTIME_BASE_MAP_H

#include "node/base/base.h"

typedef struct {
    struct sw_map_entry {
        uint64_t key;           /* 0: empty */
        void *value;
    } *entries;
    size_t mask, count;
} sw_map_t;

/* NULL: it is not there. */
void *sw_map_find(const sw_map_t *map, uint64_t key);
/* In place of what was there. False: no memory. */
bool sw_map_put(sw_map_t *map, uint64_t key, void *value);
/* What was there, or NULL. */
void *sw_map_remove(sw_map_t *map, uint64_t key);
void sw_map_free(sw_map_t *map);

static inline uint64_t sw_map_mix(uint64_t key)
{
    key *= 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

#endif
