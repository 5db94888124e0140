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

/* Which collective a note of that last kind names; 0: what the call is. The
 * numbers are the format's. */
#define SW_TRACE_COLLECTIVES(SW_TRACED)                                 \
    SW_TRACED(BARRIER)                                                  \
    SW_TRACED(BCAST)                                                    \
    SW_TRACED(REDUCE)                                                   \
    SW_TRACED(ALLREDUCE)                                                \
    SW_TRACED(REDUCE_SCATTER)                                           \
    SW_TRACED(REDUCE_SCATTER_BLOCK)                                     \
    SW_TRACED(SCAN)                                                     \
    SW_TRACED(EXSCAN)                                                   \
    SW_TRACED(GATHER)                                                   \
    SW_TRACED(GATHERV)                                                  \
    SW_TRACED(SCATTER)                                                  \
    SW_TRACED(SCATTERV)                                                 \
    SW_TRACED(ALLGATHER)                                                \
    SW_TRACED(ALLGATHERV)                                               \
    SW_TRACED(ALLTOALL)                                                 \
    SW_TRACED(ALLTOALLV)                                                \
    SW_TRACED(ALLTOALLW)                                                \
    SW_TRACED(NEIGHBOR_ALLGATHER)                                       \
    SW_TRACED(NEIGHBOR_ALLGATHERV)                                      \
    SW_TRACED(NEIGHBOR_ALLTOALL)                                        \
    SW_TRACED(NEIGHBOR_ALLTOALLV)                                       \
    SW_TRACED(NEIGHBOR_ALLTOALLW)
typedef enum {
    SW_TRACE_THE_CALL,
#define SW_TRACED(NAME) SW_TRACE_##NAME,
    SW_TRACE_COLLECTIVES(SW_TRACED)
#undef SW_TRACED
    SW_TRACE_COLLECTIVE_COUNT
} sw_trace_collective_t;

/* Flags of a note of a target: of a lock. */
#define SW_TARGET_EXCLUSIVE 1u
#define SW_TARGET_UNCHECKED 2u  /* MPI_MODE_NOCHECK */

#define SW_PEER_ANY (-1)        /* a receive's source, or its tag    */
#define SW_PEER_ELSEWHERE (-2)  /* a peer that is not in MPI_COMM_WORLD */

#endif
