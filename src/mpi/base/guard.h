/*
 * guard.h - the user's calls, and the host's own.
 *
 * Hosts build communicators, windows, files and types with the help of other
 * MPI procedures. Some hosts call these by their PMPI_ names, which are our
 * stubs. Such inner calls must be as fast as any, but they are not the user's:
 * statistics and profiles must not count them. So the setup procedures are
 * wrapped (guard.c, generated: the call, between one more and one less in
 * sw_depth). A part that counts calls asks sw_guard_from_user() first.
 *
 * Procedures for inner loops are not wrapped: in those, the hosts go their
 * own ways inside.
 */
#ifndef SW_MPI_BASE_GUARD_H
#define SW_MPI_BASE_GUARD_H

#include "away.h"
#include "contract/front.h"

static inline bool sw_guard_from_user(void)
{
    return sw_depth == 0;
}

static inline int sw_guard_enter(void)
{
    return sw_depth++;
}

/* Restores what sw_guard_enter found, so that an inner leap is mended, too. */
static inline void sw_guard_leave(const int *before)
{
    sw_depth = *before;
}

/* From here to the end of the block, calls are the host's, which waits for no
 * other rank in them. An exception that an error handler throws leaves the
 * block as well. */
#define SW_INSIDE_LOCAL                              \
    __attribute__((cleanup(sw_guard_leave), unused)) \
    const int sw_before = sw_guard_enter()
/* The same, but the host may wait. */
#define SW_INSIDE \
    SW_AWAY;      \
    SW_AWAY_BEAT; \
    SW_INSIDE_LOCAL
/* The same, and no signal may cut a system call short there: the host reads or
 * writes a file, or calls a function of the program's (an attribute's). */
#define SW_INSIDE_STILL \
    SW_AWAY;            \
    SW_INSIDE_LOCAL

/* For the generated wrappers: one written by hand takes its place. */
#define SW_GUARD __attribute__((weak, visibility("hidden")))

#endif
