/*
 * map.h - numbers by number: a table with open addressing.
 *
 *     sw_map_t map = {0};
 *     *sw_map_put(&map, key) = value;         NULL: no memory
 *     uint64_t *value = sw_map_get(&map, key);
 *     sw_map_remove(&map, key);
 *     sw_map_free(&map);
 *
 * Values stay where they are until the next put or remove. A key is any number
 * but UINT64_MAX.
 */
#ifndef SW_WHATIF_MAP_H
#define SW_WHATIF_MAP_H

#include "../node/base.h"

typedef struct {
    uint64_t key;       /* and 1; 0: free */
    uint64_t value;
} sw_map_entry_t;

typedef struct {
    sw_map_entry_t *entries;
    size_t room, used;          /* room: a power of two, or 0 */
} sw_map_t;

/* The value of a key, a new one being 0. */
uint64_t *sw_map_put(sw_map_t *map, uint64_t key);
/* NULL: it is not there. */
uint64_t *sw_map_get(const sw_map_t *map, uint64_t key);
void sw_map_remove(sw_map_t *map, uint64_t key);
/* Empty, its room kept. */
void sw_map_clear(sw_map_t *map);
void sw_map_free(sw_map_t *map);

#endif
