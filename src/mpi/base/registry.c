/*
 * registry.c - see registry.h.
 */
#include "registry.h"

#include <stdlib.h>
#include <string.h>

sw_registered_t sw_registry_nobody = {.key = SW_NO_KEY};

static sw_registered_t **bucket(sw_registry_t *r, uintptr_t key)
{
    return &r->table[sw_host_handle_mix(key) % SW_REGISTRY_BUCKETS];
}

static sw_registry_cache_t *place(sw_registry_t *r, uintptr_t key)
{
    return &r->cache[sw_host_handle_mix(key) % r->places];
}

/* The lock is held. */
static sw_registered_t *look_up(sw_registry_t *r, uintptr_t key)
{
    sw_registered_t *s = *bucket(r, key);
    while (s && s->key != key)
        s = s->next;
    if (s)
        atomic_store_explicit(place(r, key), s, memory_order_release);
    return s;
}

void *sw_registry_find(sw_registry_t *r, uintptr_t key)
{
    pthread_mutex_lock(&r->lock);
    sw_registered_t *s = look_up(r, key);
    pthread_mutex_unlock(&r->lock);
    return s;
}

void *sw_registry_put(sw_registry_t *r, uintptr_t key, const void *state,
                      bool *added)
{
    pthread_mutex_lock(&r->lock);
    sw_registered_t *s = look_up(r, key);
    *added = !s;
    if (!s && (s = r->spare))
        r->spare = s->next;
    else if (!s)
        s = malloc(r->bytes);
    if (s && *added) {
        /* A reader with a stale entry of the cache looks at the key alone. */
        memcpy(s + 1, (const sw_registered_t *)state + 1, r->bytes - sizeof *s);
        s->key = key;
        s->next = *bucket(r, key);
        *bucket(r, key) = s;
    }
    pthread_mutex_unlock(&r->lock);
    return s;
}

void sw_registry_remove(sw_registry_t *r, void *state)
{
    sw_registered_t *s = state, **link;
    pthread_mutex_lock(&r->lock);
    for (link = bucket(r, s->key); *link && *link != s;)
        link = &(*link)->next;
    if (*link)
        *link = s->next;
    if (atomic_load(place(r, s->key)) == s)
        atomic_store(place(r, s->key), &sw_registry_nobody);
    s->key = SW_NO_KEY;
    pthread_mutex_unlock(&r->lock);
}

void sw_registry_spare(sw_registry_t *r, void *state)
{
    sw_registered_t *s = state;
    pthread_mutex_lock(&r->lock);
    s->next = r->spare;
    r->spare = s;
    pthread_mutex_unlock(&r->lock);
}

int sw_registry_forget_keyval(sw_registry_t *r)
{
    pthread_mutex_lock(&r->lock);
    int keyval = r->keyval;
    r->keyval = MPI_KEYVAL_INVALID;
    pthread_mutex_unlock(&r->lock);
    return keyval;
}
