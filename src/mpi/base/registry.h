/*
 * registry.h - what we remember of the host's objects, found by their handles:
 * communicators (comm.h) and datatypes (datatype.h).
 *
 * A small cache stands in front of a table, so that a state is found with two
 * loads. The state of an object hangs on the object as an attribute, too: when
 * the host deletes the attribute, no look-up finds the state any more.
 *
 * A state is never given back to the heap. It goes to a spare list instead,
 * since readers look at the cache without a lock: what they find is at worst a
 * state that has another key by now.
 *
 * No function here calls MPI.
 */
#ifndef SW_MPI_BASE_REGISTRY_H
#define SW_MPI_BASE_REGISTRY_H

#include "host.h"

#include <pthread.h>

#define SW_REGISTRY_BUCKETS 1024

/* The first member of a state. */
typedef struct sw_registered {
    uintptr_t key;              /* the handle, or SW_NO_KEY */
    struct sw_registered *next; /* in the table, or in the spare list */
} sw_registered_t;

/* Of no object: neither an address nor an integer. */
#define SW_NO_KEY ((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1) | 1)

/* A cache is full of it at first, so that a look-up tests no pointer. */
extern sw_registered_t sw_registry_nobody __attribute__((visibility("hidden")));

typedef _Atomic(sw_registered_t *) sw_registry_cache_t;

typedef struct {
    pthread_mutex_t lock; /* of all below, and free for the owner */
    sw_registered_t *table[SW_REGISTRY_BUCKETS], *spare;
    size_t bytes; /* of a state */
    sw_registry_cache_t *cache;
    size_t places; /* of the cache, a power of two */
    int keyval;    /* of the attribute */
} sw_registry_t;

#define SW_REGISTRY(TYPE, CACHE)                 \
    {.lock = PTHREAD_MUTEX_INITIALIZER,          \
     .bytes = sizeof(TYPE),                      \
     .cache = CACHE,                             \
     .places = sizeof(CACHE) / sizeof(CACHE)[0], \
     .keyval = MPI_KEYVAL_INVALID}
#define SW_REGISTRY_EMPTY(PLACES) {[0 ...(PLACES) - 1] = &sw_registry_nobody}

/* From the cache, or NULL. */
static inline void *sw_registry_cached(sw_registry_cache_t *cache,
                                       size_t places, uintptr_t key)
{
    sw_registered_t *found = atomic_load_explicit(
        &cache[sw_host_handle_mix(key) % places], memory_order_acquire);
    return sw_likely(found->key == key) ? found : NULL;
}

/* From the table, and into the cache; or NULL. */
void *sw_registry_find(sw_registry_t *r, uintptr_t key);

/* Put a copy of *state under a key. *added: false where another thread has put
 * one meanwhile, which is returned then. NULL: no memory. */
void *sw_registry_put(sw_registry_t *r, uintptr_t key, const void *state,
                      bool *added);

/* No look-up finds it any more. */
void sw_registry_remove(sw_registry_t *r, void *state);

/* No call needs a removed state any more. */
void sw_registry_spare(sw_registry_t *r, void *state);

/* A session ends, and some hosts forget the keyvals made in it: the next object
 * met gets a new one. Attributes under the old one, which is returned, stay
 * with their objects. */
int sw_registry_forget_keyval(sw_registry_t *r);

#endif
