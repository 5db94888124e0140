/*
 * catalog.c - see catalog.h. Entries lie in chunks that never move.
 */
#include "catalog.h"

#include "profile/base/memory.h"

#include <pthread.h>
#include <string.h>

#define CHUNK 256u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    sw_catalog_entry_t *chunk[SW_CATALOG_MAX / CHUNK + 1];
    _Atomic uint32_t count;
} catalogs[SW_CATALOG_KINDS];

uint32_t sw_catalog_count(sw_catalog_kind_t kind)
{
    return atomic_load_explicit(&catalogs[kind].count, memory_order_acquire);
}

static sw_catalog_entry_t *entry_at(sw_catalog_kind_t kind, uint32_t number)
{
    return &catalogs[kind].chunk[number / CHUNK][number % CHUNK];
}

const sw_catalog_entry_t *sw_catalog(sw_catalog_kind_t kind, uint32_t number)
{
    return number && number <= sw_catalog_count(kind) ? entry_at(kind, number)
                                                      : NULL;
}

static void set_name(sw_catalog_entry_t *e, const char *name)
{
    size_t n = sw_min(strlen(name), sizeof e->name - 1);
    memcpy(e->name, name, n);
    e->name[n] = '\0';
}

static uint16_t add(sw_catalog_kind_t kind, const sw_catalog_entry_t *entry)
{
    static const sw_catalog_entry_t rest = {.name = "(others)"};
    uint32_t number = sw_catalog_count(kind) + 1;
    bool full = number >= SW_CATALOG_MAX;
    if (full)
        entry = &rest;
    if (number <= SW_CATALOG_MAX) {
        sw_catalog_entry_t **chunk = &catalogs[kind].chunk[number / CHUNK];
        if (!*chunk)
            *chunk = sw_profile_memory(CHUNK * sizeof **chunk);
        if (*chunk) {
            *entry_at(kind, number) = *entry;
            atomic_store_explicit(&catalogs[kind].count, number,
                                  memory_order_release);
        } else {
            number = 0;
        }
    } else {
        number = SW_CATALOG_MAX;
    }
    return (uint16_t)number;
}

uint16_t sw_catalog_add(sw_catalog_kind_t kind, const sw_catalog_entry_t *entry)
{
    pthread_mutex_lock(&lock);
    uint16_t number = add(kind, entry);
    pthread_mutex_unlock(&lock);
    return number;
}

uint16_t sw_catalog_like(sw_catalog_kind_t kind,
                         const sw_catalog_entry_t *entry)
{
    pthread_mutex_lock(&lock);
    uint32_t n = sw_catalog_count(kind), i = 1;
    while (i <= n && (entry_at(kind, i)->size != entry->size ||
                      strcmp(entry_at(kind, i)->name, entry->name)))
        i++;
    uint16_t number = i <= n ? (uint16_t)i : add(kind, entry);
    pthread_mutex_unlock(&lock);
    return number;
}

void sw_catalog_rename(sw_catalog_kind_t kind, uint16_t number,
                       const char *name)
{
    pthread_mutex_lock(&lock);
    if (sw_catalog(kind, number) && number < SW_CATALOG_MAX)
        set_name(entry_at(kind, number), name);
    pthread_mutex_unlock(&lock);
}

void sw_catalog_neighbours(uint16_t number,
                           const sw_catalog_neighbours_t *neighbours)
{
    pthread_mutex_lock(&lock);
    if (sw_catalog(SW_CATALOG_COMMUNICATORS, number) && number < SW_CATALOG_MAX)
        entry_at(SW_CATALOG_COMMUNICATORS, number)->neighbours = neighbours;
    pthread_mutex_unlock(&lock);
}
