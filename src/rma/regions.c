/*
 * regions.c - see regions.h.
 *
 * Memory order: the writer makes the version odd before it touches a region (a
 * release fence), and even after (a release). The reader reads the version
 * before (acquire) and after (an acquire fence). So one that has seen a part of
 * a change sees another version.
 */
#include "regions.h"

static void set(sw_regions_t *r, sw_region_t *to, uint64_t base, uint64_t bytes,
                uint64_t offset)
{
    uint32_t version = atomic_load_explicit(&r->version, memory_order_relaxed);
    atomic_store_explicit(&r->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&to->base, base, memory_order_relaxed);
    atomic_store_explicit(&to->bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&to->offset, offset, memory_order_relaxed);
    atomic_store_explicit(&r->version, version + 2, memory_order_release);
}

static uint64_t get(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

void sw_regions_add(sw_regions_t *r, uint64_t base, uint64_t bytes,
                    uint64_t offset)
{
    for (int i = 0; i < SW_REGIONS; i++)
        if (!get(&r->region[i].bytes)) {
            set(r, &r->region[i], base, bytes, offset);
            return;
        }
}

void sw_regions_remove(sw_regions_t *r, uint64_t base)
{
    for (int i = 0; i < SW_REGIONS; i++)
        if (get(&r->region[i].bytes) && get(&r->region[i].base) == base)
            set(r, &r->region[i], 0, 0, 0);
}

uint64_t sw_regions_find(const sw_regions_t *r, uint64_t low, uint64_t high)
{
    uint64_t found = UINT64_MAX;
    uint32_t version = atomic_load_explicit(&r->version, memory_order_acquire);
    for (int i = 0; i < SW_REGIONS && found == UINT64_MAX; i++) {
        uint64_t base = get(&r->region[i].base);
        uint64_t bytes = get(&r->region[i].bytes);
        if (bytes && low >= base && high - base <= bytes)
            found = get(&r->region[i].offset) + (low - base);
    }
    atomic_thread_fence(memory_order_acquire);
    return version % 2 == 0 && atomic_load_explicit(
                                   &r->version, memory_order_relaxed) == version
               ? found
               : UINT64_MAX;
}
