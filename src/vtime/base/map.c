/*
 * map.c - see map.h. What is removed leaves no mark: those behind it that
 * would be missed move up.
 */
#include "map.h"

#include "pool.h"

#include <stdlib.h>

/* Four keys in a row have one home, a cache line: of a rank's requests. */
static size_t home(const sw_map_t *map, uint64_t key)
{
    return (sw_map_mix(key >> 2) << 2 | (key & 3)) & map->mask;
}

static size_t place(const sw_map_t *map, uint64_t key)
{
    size_t at = home(map, key);
    while (map->entries[at].key && map->entries[at].key != key)
        at = (at + 1) & map->mask;
    return at;
}

void *sw_map_find(const sw_map_t *map, uint64_t key)
{
    return map->entries ? map->entries[place(map, key)].value : NULL;
}

static bool grow(sw_map_t *map)
{
    size_t size = map->entries ? 2 * (map->mask + 1) : 64;
    sw_map_t more = {.entries = sw_pool_array(size, sizeof *more.entries),
                     .mask = size - 1, .count = map->count};
    if (!more.entries)
        return false;
    for (size_t i = 0; map->entries && i <= map->mask; i++)
        if (map->entries[i].key)
            more.entries[place(&more, map->entries[i].key)] = map->entries[i];
    free(map->entries);
    *map = more;
    return true;
}

bool sw_map_put(sw_map_t *map, uint64_t key, void *value)
{
    if ((!map->entries || 2 * map->count >= map->mask) && !grow(map))
        return false;
    struct sw_map_entry *entry = &map->entries[place(map, key)];
    if (!entry->key)
        map->count++;
    *entry = (struct sw_map_entry){key, value};
    return true;
}

void *sw_map_remove(sw_map_t *map, uint64_t key)
{
    if (!map->entries)
        return NULL;
    size_t hole = place(map, key);
    void *value = map->entries[hole].value;
    if (!map->entries[hole].key)
        return NULL;
    for (size_t at = hole;;) {
        at = (at + 1) & map->mask;
        if (!map->entries[at].key)
            break;
        size_t from = home(map, map->entries[at].key);
        if (((at - from) & map->mask) < ((at - hole) & map->mask))
            continue;
        map->entries[hole] = map->entries[at];
        hole = at;
    }
    map->entries[hole] = (struct sw_map_entry){0};
    map->count--;
    return value;
}

void sw_map_free(sw_map_t *map)
{
    free(map->entries);
    *map = (sw_map_t){0};
}
