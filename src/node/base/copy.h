/*
 * copy.h - the one copy routine.
 *
 * libc's memcpy is well tuned for a process's own memory; reading what another
 * core has just written behaves alike.
 *
 * sw_copy_past writes past the caches, with streaming stores. It wins where
 * the data would not stay in them anyway: a plain store first reads the line
 * it replaces, a third of the traffic. (libc does so too, from three quarters
 * of what the processor calls its last-level cache; virtual machines tell
 * fairy tales of that.) Where there are no such stores it is sw_copy.
 */
#ifndef SW_NODE_BASE_COPY_H
#define SW_NODE_BASE_COPY_H

#include "base.h"

#include <string.h>

static inline void sw_copy(void *to, const void *from, size_t n)
{
    /* One element is what small collectives mostly carry: no call for it. */
    if (n == 8)
        memcpy(to, from, 8);
    else if (n == 4)
        memcpy(to, from, 4);
    else if (n)
        memcpy(to, from, n);
}

SW_API void sw_copy_past(void *to, const void *from, size_t n);

#endif
