/*
 * share.c - see share.h.
 */
#include "share.h"

#include "node/arena/arena.h"

#include <stdlib.h>
#include <string.h>

_Atomic(sw_layout_gone_t *) sw_layout_gone;

sw_layout_t *sw_layout_share(sw_layout_t *l)
{
    static _Atomic uint64_t serials;
    sw_layout_t *shared = sw_arena_alloc_shared(l->bytes, SW_LINE);
    if (shared) {
        memcpy(shared, l, l->bytes);
        shared->serial = atomic_fetch_add(&serials, 1) + 1;
        free(l);
        l = shared;
    }
    atomic_store_explicit(&l->users, 1, memory_order_relaxed);
    return l;
}

void sw_layout_drop(sw_layout_t *l)
{
    sw_assert(atomic_load(&l->users) > 0);
    if (atomic_fetch_sub_explicit(&l->users, 1, memory_order_acq_rel) != 1)
        return;
    sw_layout_gone_t *hear = atomic_load(&sw_layout_gone);
    if (hear && atomic_load_explicit(&l->kept, memory_order_relaxed))
        hear(l);
    if (sw_arena_is_block(l))
        sw_arena_free(l);
    else
        free(l);
}
