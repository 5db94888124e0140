/*
 * temporary.h - memory for the time of a call: in the arena, so that peers
 * reach it, if that has room.
 */
#ifndef SW_NODE_TEMPORARY_H
#define SW_NODE_TEMPORARY_H

#include "node/base/base.h"

/* n bytes (n may be 0); ends the job with a message when there are none: the
 * other members are already in the collective and cannot be told. */
SW_API void *sw_temporary(size_t n);
SW_API void sw_temporary_free(void *p);     /* or NULL */

#endif
