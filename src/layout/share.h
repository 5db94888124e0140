/*
 * share.h - layouts in the arena, for peers to read.
 *
 * A shared layout lives until its datatype is gone and no message that it
 * describes is under way: each of these holds it. Its serial is never used
 * again, so a peer reads it once, and keeps a copy (known.h).
 */
#ifndef SW_LAYOUT_SHARE_H
#define SW_LAYOUT_SHARE_H

#include "layout.h"

/* `l`, which came from sw_build_end, in the arena if that has room; held once.
 * The old one is gone. */
SW_API sw_layout_t *sw_layout_share(sw_layout_t *l);

static inline void sw_layout_hold(sw_layout_t *l)
{
    atomic_fetch_add_explicit(&l->users, 1, memory_order_relaxed);
}
/* The last one frees it. */
SW_API void sw_layout_drop(sw_layout_t *l);

#endif
