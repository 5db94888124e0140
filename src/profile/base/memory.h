/*
 * memory.h - what the profile writes into.
 *
 * The profile takes it from the system in large pieces, and never gives it
 * back. A signal handler may read all of it at any time. The profile leaves the
 * program's heap alone: its allocator may be calling MPI, or have crashed.
 */
#ifndef SW_PROFILE_BASE_MEMORY_H
#define SW_PROFILE_BASE_MEMORY_H

#include "node/base/base.h"

/* `size` zeroed bytes, aligned to a cache line; NULL: the system has none.
 * Thread safe. */
SW_API void *sw_profile_memory(size_t size);

#endif
