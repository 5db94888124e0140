/*
 * handles.c - see handles.h.
 */
#include "handles.h"

#include <stdlib.h>

#define FIRST_BITS 12

static sw_track_t *first[1u << FIRST_BITS];
static sw_track_t **table = first;
static unsigned bits = FIRST_BITS;
static size_t used;
static sw_track_t *added, *found;       /* the last ones                     */

/* The upper bits of the product: handles may be addresses, all in equal
 * distances. */
static sw_track_t **bucket(MPI_Request handle)
{
    return &table[(uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u >>
                  (64 - bits)];
}

static void link_in(sw_track_t *t)
{
    sw_track_t **at = bucket(t->handle);
    t->next = *at;
    *at = t;
}

/* Twice as many buckets. Without memory for them the chains become longer. */
static void grow(void)
{
    sw_track_t **old = table;
    size_t n = (size_t)1 << bits;
    sw_track_t **more = calloc(2 * n, sizeof *more);
    if (!more)
        return;
    table = more;
    bits++;
    for (size_t i = 0; i < n; i++)
        for (sw_track_t *t = old[i], *next; t; t = next) {
            next = t->next;
            link_in(t);
        }
    if (old != first)
        free(old);
}

void sw_handles_add(sw_track_t *t)
{
    if (!t->idle) {
        if (sw_unlikely(2 * used++ >= (size_t)1 << bits))
            grow();
        link_in(t);
    }
    t->idle = false;
    if (added)
        added->follower = t;
    added = t;
    t->follower = NULL;
}

void sw_handles_remove(sw_track_t *t)
{
    if (t->kept) {
        t->idle = true;
        return;
    }
    sw_track_t **link = bucket(t->handle);
    while (*link && *link != t)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = t->next;
    t->handle = MPI_REQUEST_NULL;
    t->idle = false;
    used--;
}

sw_track_t *sw_handles_first(MPI_Request handle)
{
    return *bucket(handle);
}

static bool is(const sw_track_t *t, MPI_Request handle)
{
    return t && t->handle == handle && !t->claimed && !t->freed &&
           !t->idle;
}

/* A track's memory is never given back, and one that is in no table has no
 * handle; so it may be looked at whatever has become of it. */
sw_track_t *sw_handles_find(MPI_Request handle)
{
    if (is(found, handle))
        return found;
    if (found && is(found->follower, handle))
        return found = found->follower;
    sw_track_t *t = *bucket(handle);
    while (t && !is(t, handle))
        t = t->next;
    if (t)
        found = t;
    return t;
}
