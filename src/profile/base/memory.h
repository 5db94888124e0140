/*
 * memory.h - what the profile writes into.
 *
 * Taken from the system in large pieces and never given back: the program's
 * heap is not touched (its allocator may be calling MPI, or be the one that
 * crashed), and a signal handler may read all of it at any time.
 */
#ifndef SW_PROFILE_BASE_MEMORY_H
#define SW_PROFILE_BASE_MEMORY_H

#include "node/base/base.h"

/* `size` zeroed bytes, aligned to a cache line; NULL: the system has none.
 * Thread safe. */
SW_API void *sw_profile_memory(size_t size);

#endif
