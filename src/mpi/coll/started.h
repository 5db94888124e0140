/*
 * started.h - a nonblocking collective of ours: a list (offload/list.h), and
 * the request that the program holds for it.
 *
 * The request is one of the host's that nobody has started: a persistent
 * receive from MPI_PROC_NULL. Every procedure in any language takes it. Beside
 * it lies a track (mpi/request/track.h), whose kind pushes the list, and tells
 * when it is over. The host is never asked for it. When the program has
 * completed it, the handle waits with its track for the next one.
 *
 * The members start a communicator's collectives in one order, so all choose
 * alike whether they or the host serve it. Whatever a member needs until the end lies in the
 * track, since the call returns at once.
 */
#ifndef SW_MPI_COLL_STARTED_H
#define SW_MPI_COLL_STARTED_H

#include "mpi/request/track.h"
#include "offload/arrival.h"
#include "offload/folds.h"
#include "moving.h"
#include "near.h"
#include "reduction.h"

typedef struct {
    sw_track_t track;
    union {
        sw_list_t list;
        sw_pairs_t pairs;
        sw_neighbourhood_t neighbourhood;
        sw_fold_t fold;
        sw_arrival_t arrival;
    };
    MPI_Request request;        /* kept from use to use, if `made`          */
    bool made;
    sw_collective_t id;
    sw_reduction_t reduction;   /* what the call said: one of these         */
    sw_move_t move;
    sw_near_t near;
    sw_operands_t operands;     /* ... and what we made of it               */
    sw_moving_t moving;
    sw_scratch_t room;          /* for what a call converts                 */
} sw_started_t;

/* At the ends of the job. */
void sw_started_start(void);
void sw_started_stop(void);

/* One for a call on `comm`, or NULL: the host serves. Counts the call, for
 * --stats. */
sw_started_t *sw_started_new(sw_collective_t id, MPI_Comm comm);
/* Room for so many bytes, once; for a count of each member; for two datatypes of each. */
void *sw_started_room(sw_started_t *s, size_t bytes);
size_t *sw_started_counts(sw_started_t *s);
const sw_datatype_t **sw_started_types(sw_started_t *s);
/* Its arguments are right: begins it. Returns what the call returns. */
int sw_started_go(sw_started_t *s, MPI_Request *request);
/* They are not, or the host serves for `reason`. */
void sw_started_drop(sw_started_t *s, sw_reason_t reason);

/* Define sw_MPI_NAME, a nonblocking procedure: ours if CHECK, an expression in
 * s, c, &reason and &result, is true. PARAMETERS and ARGUMENTS end with the
 * communicator. */
#define SW_NONBLOCKING(NAME, ID, PARAMETERS, ARGUMENTS, CHECK)          \
int sw_MPI_##NAME(SW_LIST PARAMETERS, MPI_Request *request)             \
{                                                                       \
    int result = MPI_SUCCESS;                                           \
    sw_reason_t reason = SW_REASON_ARGUMENTS;                           \
    sw_started_t *s = sw_started_new(ID, comm);                         \
    if (s) {                                                            \
        sw_comm_t *c = s->track.comm;                                   \
        if (sw_likely(request && (CHECK)))                              \
            return sw_started_go(s, request);                           \
        sw_started_drop(s, reason);                                     \
        (void)c;                                                        \
        if (result != MPI_SUCCESS)                                      \
            return result;                                              \
    }                                                                   \
    return host.NAME(SW_LIST ARGUMENTS, request);                       \
}
#define SW_LIST(...) __VA_ARGS__

/* Define both forms of a procedure that moves blocks, or that reduces. CHECK
 * fills in k, and RUN(c, k, comm, &reason, &result) does the work of the
 * blocking one. */
#define SW_BOTH(NAME, INAME, ID, PARAMETERS, ARGUMENTS, CHECK, RUN, CALL, \
                FIELD, GOES_ON)                                         \
SW_COLLECTIVE(NAME, ID, PARAMETERS, ARGUMENTS, __extension__ ({         \
    CALL call, *k = &call;                                              \
    (CHECK) ? RUN(c, k, comm, &reason, &result)                         \
            : result != MPI_SUCCESS; }))                                \
SW_NONBLOCKING(INAME, ID, PARAMETERS, ARGUMENTS, __extension__ ({       \
    CALL *k = &s->FIELD;                                                \
    (CHECK) && GOES_ON; }))

#define SW_MOVES(NAME, INAME, ID, PARAMETERS, ARGUMENTS, CHECK, RUN)    \
SW_BOTH(NAME, INAME, ID, PARAMETERS, ARGUMENTS, CHECK, RUN, sw_move_t,  \
        move, true)
#define SW_REDUCES(NAME, INAME, ID, PARAMETERS, ARGUMENTS, CHECK, RUN)  \
SW_BOTH(NAME, INAME, ID, PARAMETERS, ARGUMENTS, CHECK, RUN,             \
        sw_reduction_t, reduction, sw_reduction_goes_on(k))

#endif
