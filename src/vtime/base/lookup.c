/*
 * lookup.c - see lookup.h. A removed key leaves no mark: the keys behind it
 * that a search would miss move up.
 */
#include "lookup.h"

#include "pool.h"

#include <stdlib.h>
#include <string.h>

/* Four keys in a row have one home, a cache line: requests of one rank. */
static size_t home(const sw_lookup_t *map, uint64_t key)
{
    return (sw_lookup_mix(key >> 2) << 2 | (key & 3)) & (map->room - 1);
}

/* Where the key is, or the free place where it would be. */
static sw_lookup_entry_t *place(const sw_lookup_t *map, uint64_t key)
{
    size_t i = home(map, key);
    while (map->entries[i].key && map->entries[i].key != key + 1)
        i = (i + 1) & (map->room - 1);
    return &map->entries[i];
}

static bool grow(sw_lookup_t *map)
{
    sw_lookup_t larger = {.room = map->room ? 2 * map->room : 64,
                          .used = map->used};
    larger.entries = sw_pool_array(larger.room, sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (size_t i = 0; i < map->room; i++)
        if (map->entries[i].key)
            *place(&larger, map->entries[i].key - 1) = map->entries[i];
    free(map->entries);
    *map = larger;
    return true;
}

uint64_t *sw_lookup_put(sw_lookup_t *map, uint64_t key)
{
    if (2 * map->used >= map->room && !grow(map))
        return NULL;
    sw_lookup_entry_t *e = place(map, key);
    if (!e->key) {
        *e = (sw_lookup_entry_t){.key = key + 1};
        map->used++;
    }
    return &e->value;
}

uint64_t *sw_lookup_get(const sw_lookup_t *map, uint64_t key)
{
    sw_lookup_entry_t *e = map->room ? place(map, key) : NULL;
    return e && e->key ? &e->value : NULL;
}

void sw_lookup_remove(sw_lookup_t *map, uint64_t key)
{
    sw_lookup_entry_t *e = map->room ? place(map, key) : NULL;
    if (!e || !e->key)
        return;
    size_t mask = map->room - 1, hole = (size_t)(e - map->entries);
    for (size_t i = (hole + 1) & mask; map->entries[i].key;
         i = (i + 1) & mask) {
        size_t want = home(map, map->entries[i].key - 1);
        if (((i - want) & mask) >= ((i - hole) & mask)) {
            map->entries[hole] = map->entries[i];
            hole = i;
        }
    }
    map->entries[hole].key = 0;
    map->used--;
}

void sw_lookup_clear(sw_lookup_t *map)
{
    if (map->room)
        memset(map->entries, 0, map->room * sizeof *map->entries);
    map->used = 0;
}

void sw_lookup_free(sw_lookup_t *map)
{
    free(map->entries);
    *map = (sw_lookup_t){0};
}
