/*
 * temporary.h - memory for the time of a call.
 *
 * There are two sorts, with names of their own. Private memory may happen to
 * lie where peers reach it, which saves a copy: sw_show finds out. Peers see
 * shared memory from its birth. No private block ever stands in for a shared
 * one: the caller gets NULL instead.
 */
#ifndef SW_NODE_TEMPORARY_H
#define SW_NODE_TEMPORARY_H

#include "node/base/base.h"

/* n bytes (n may be 0). NULL: there are none, and the caller has another way,
 * or an error for its program. */
SW_API void *sw_temporary_try(size_t n);
/* The same for members of a collective; ends the job with a message when there
 * are none. For the others are in the collective already, and count on this
 * member: it cannot choose another way than theirs, nor tell them. */
SW_API void *sw_temporary(size_t n);
/* n > 0 bytes that peers see, and in *there where; NULL: the common zone is
 * full, and the caller has another way. */
SW_API void *sw_temporary_shared(size_t n, uint64_t *there);
SW_API void sw_temporary_free(void *p); /* either's, or NULL */

#endif
