/*
 * record.c - see record.h. A table with open addressing of pointers: the
 * records themselves never move. A table that has grown is published with the
 * pointer to the new one; the old one stays readable.
 */
#include "record.h"

#include "profile/base/memory.h"

#define FIRST 256u

static uint32_t mixed(const sw_key_t *key)
{
    uint64_t x = key->words[0] * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29 ^ key->words[1]) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 32 ^ key->words[2]) * 0x94d049bb133111ebu;
    return (uint32_t)(x >> 32);
}

static _Atomic(sw_record_t *) *place(_Atomic(sw_record_t *) *at, uint32_t size,
                                     const sw_key_t *key)
{
    uint32_t i = mixed(key);
    while (true) {
        _Atomic(sw_record_t *) *slot = &at[i++ & (size - 1)];
        sw_record_t *r = atomic_load_explicit(slot, memory_order_relaxed);
        if (!r || sw_key_same(&r->key, key))
            return slot;
    }
}

/* A reader takes `at` and `size` apart: the larger size comes after the larger
 * table, so that it never reads beyond. (capture.c reads size first.) */
static bool grow(sw_records_t *records)
{
    uint32_t size = records->size ? 2 * records->size : FIRST;
    _Atomic(sw_record_t *) *to = sw_profile_memory(size * sizeof *to);
    if (!to)
        return false;
    for (uint32_t i = 0; i < records->size; i++) {
        sw_record_t *r = atomic_load_explicit(&records->at[i],
                                              memory_order_relaxed);
        if (r)
            atomic_store_explicit(place(to, size, &r->key), r,
                                  memory_order_relaxed);
    }
    __atomic_store_n(&records->at, to, __ATOMIC_RELEASE);
    __atomic_store_n(&records->size, size, __ATOMIC_RELEASE);
    return true;
}

sw_record_t *sw_records_find(sw_records_t *records, const sw_key_t *key,
                             uint32_t most)
{
    _Atomic(sw_record_t *) *slot = records->size
                                       ? place(records->at, records->size, key)
                                       : NULL;
    sw_record_t *r = slot ? atomic_load_explicit(slot, memory_order_relaxed)
                          : NULL;
    if (sw_likely(r))
        return r;
    if (records->used >= most)
        return NULL;
    if (2 * (records->used + 1) > records->size) {
        if (!grow(records))
            return NULL;
        slot = place(records->at, records->size, key);
    }
    r = sw_profile_memory(sizeof *r);
    if (!r)
        return NULL;
    r->key = *key;
    atomic_store_explicit(&r->shortest, UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&r->smallest, UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(slot, r, memory_order_release);
    records->used++;
    return r;
}
