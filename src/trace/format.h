/*
 * format.h - what both the writer (src/profile) and the readers of a trace
 * know of it; docs/capture-format.md (TRAC) has the whole.
 */
#ifndef SW_TRACE_FORMAT_H
#define SW_TRACE_FORMAT_H

/* Kinds of notes. */
typedef enum {
    SW_NOTE_AMOUNT = 1,
    SW_NOTE_SENDS,
    SW_NOTE_RECEIVES,
    SW_NOTE_POSTS,
    SW_NOTE_COLLECTIVE,
    SW_NOTE_STARTS,
    SW_NOTE_ENDS,
    SW_NOTE_CAME,
    SW_NOTE_WAITED,
    SW_NOTE_TARGET,
    SW_NOTE_MEANS,
} sw_note_kind_t;

/* The collective that a note of that last kind names is its number
 * (sw_collective_t of contract/collectives.h) plus one; 0: what the call is. */
#define SW_TRACE_THE_CALL 0u

/* Flags of a note of a target: of a lock. */
#define SW_TARGET_EXCLUSIVE 1u
#define SW_TARGET_UNCHECKED 2u /* MPI_MODE_NOCHECK */

#define SW_PEER_ANY (-1)       /* a receive's source, or its tag */
#define SW_PEER_ELSEWHERE (-2) /* a peer that is not in MPI_COMM_WORLD */

#endif
