/*
 * share.h - layouts in the arena, for peers to read.
 *
 * A shared layout lives until its datatype is gone and no message that it
 * describes is under way: each of these holds it. Its serial is never used
 * again, so a peer reads it once, and keeps a copy (known.h).
 *
 * Another room may keep something beside a layout that is held, such as its
 * table on a device. That room marks the layout as kept (sw_layout_keep), and
 * hears once when it goes (sw_layout_gone).
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
/* What hears that a kept layout goes, before its memory does. Any thread may
 * call it. NULL: no room keeps any. Stored once, before the first keeping. */
typedef void sw_layout_gone_t(const sw_layout_t *l);
SW_API extern _Atomic(sw_layout_gone_t *) sw_layout_gone;

static inline void sw_layout_keep(const sw_layout_t *l)
{
    sw_layout_t *kept = (sw_layout_t *)(uintptr_t)l;
    atomic_store_explicit(&kept->kept, 1, memory_order_relaxed);
}
/* Has it holders, so that its end will be heard of? */
static inline bool sw_layout_held(const sw_layout_t *l)
{
    return atomic_load_explicit(&l->users, memory_order_relaxed) > 0;
}

/* The last one frees it. */
SW_API void sw_layout_drop(sw_layout_t *l);

#endif
