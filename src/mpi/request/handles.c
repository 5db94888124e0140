/*
 * handles.c - see handles.h.
 */
#include "handles.h"

#include <stdlib.h>

#define FIRST_BITS 12

static sw_shadow_t *first[1u << FIRST_BITS];
static sw_shadow_t **table = first;
static unsigned bits = FIRST_BITS;
static size_t used;
static sw_shadow_t *added, *found; /* the last ones */

/* The upper bits of the product: handles may be addresses, all in equal
 * distances. */
static sw_shadow_t **bucket(MPI_Request handle)
{
    return &table[(uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u >>
                  (64 - bits)];
}

static void link_in(sw_shadow_t *s)
{
    sw_shadow_t **at = bucket(s->handle);
    s->next = *at;
    *at = s;
}

/* Twice as many buckets. Without memory for them the chains become longer. */
static void grow(void)
{
    sw_shadow_t **old = table;
    size_t n = (size_t)1 << bits;
    sw_shadow_t **more = calloc(2 * n, sizeof *more);
    if (!more)
        return;
    table = more;
    bits++;
    for (size_t i = 0; i < n; i++)
        for (sw_shadow_t *s = old[i], *next; s; s = next) {
            next = s->next;
            link_in(s);
        }
    if (old != first)
        free(old);
}

void sw_handles_add(sw_shadow_t *s)
{
    if (!s->idle) {
        if (sw_unlikely(2 * used++ >= (size_t)1 << bits))
            grow();
        link_in(s);
    }
    s->idle = false;
    if (added)
        added->follower = s;
    added = s;
    s->follower = NULL;
}

void sw_handles_remove(sw_shadow_t *s)
{
    if (s->kept) {
        s->idle = true;
        return;
    }
    sw_shadow_t **link = bucket(s->handle);
    while (*link && *link != s)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = s->next;
    s->handle = MPI_REQUEST_NULL;
    s->idle = false;
    used--;
}

sw_shadow_t *sw_handles_first(MPI_Request handle)
{
    return *bucket(handle);
}

static bool is(const sw_shadow_t *s, MPI_Request handle)
{
    return s && s->handle == handle && !s->claimed && !s->freed && !s->idle;
}

/* A shadow's memory is never given back, and one that is in no table has no
 * handle. So a look at it is safe even after its request has ended. */
sw_shadow_t *sw_handles_find(MPI_Request handle)
{
    if (is(found, handle))
        return found;
    if (found && is(found->follower, handle))
        return found = found->follower;
    sw_shadow_t *s = *bucket(handle);
    while (s && !is(s, handle))
        s = s->next;
    if (s)
        found = s;
    return s;
}
