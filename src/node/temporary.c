/*
 * temporary.c - see temporary.h.
 */
#include "temporary.h"

#include "node/arena/show.h"
#include "node/base/settings.h"

#include <stdlib.h>

void *sw_temporary_try(size_t n)
{
    void *p = sw_arena_alloc_shared(n ? n : 1, SW_LINE);
    if (!p && !sw_os_refused(SW_DOOR_HEAP))
        p = malloc(n ? n : 1);
    return p;
}

void *sw_temporary(size_t n)
{
    void *p = sw_temporary_try(n);
    if (!p) {
        sw_say("no memory for a temporary copy of %zu bytes", n);
        abort();
    }
    return p;
}

void *sw_temporary_shared(size_t n, uint64_t *there)
{
    void *p = sw_arena_alloc_shared(n, SW_LINE);
    *there = p ? sw_show_at_birth(p, n) : UINT64_MAX;
    sw_assert(!p || *there != UINT64_MAX);
    return p;
}

void sw_temporary_free(void *p)
{
    if (sw_arena_is_block(p))
        sw_arena_free(p);
    else
        free(p);
}
