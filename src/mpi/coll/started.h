/*
 * started.h - a nonblocking or persistent collective of ours: a list
 * (offload/list.h), and the request that the program holds for it.
 *
 * Beside the request lies a track, whose kind pushes the list, and tells when
 * it is over (mpi/request/listed.h).
 *
 * The members start a communicator's collectives in one order, so all choose
 * alike whether they or the host serve it. Whatever a member needs until the
 * end lies in the track, since the call returns at once.
 *
 * Persistent ones are initialized in one order, and started in any. So each has
 * slates of its own (base/comm_slates.c). It keeps what its arguments mean, and
 * its datatypes, until the program frees it. So does a copy of the arrays of
 * counts: MPI lets the program change none before, yet mpi4py frees its own.
 */
#ifndef SW_MPI_COLL_STARTED_H
#define SW_MPI_COLL_STARTED_H

#include "mpi/request/listed.h"
#include "offload/arrival.h"
#include "offload/folds.h"
#include "aliases.h"
#include "moving.h"
#include "near.h"
#include "reduction.h"

typedef struct {
    union {
        sw_track_t track;
        sw_listed_t listed;
    };
    union {
        sw_list_t list;
        sw_pairs_t pairs;
        sw_neighbourhood_t neighbourhood;
        sw_fold_t fold;
        sw_arrival_t arrival;
    };
    sw_collective_t id;
    sw_reduction_t reduction;   /* what the call said: one of these         */
    sw_move_t move;
    sw_near_t near;
    sw_operands_t operands;     /* ... and what we made of it               */
    sw_moving_t moving;
    sw_scratch_t room;          /* for what a call converts                 */
    /* Of a persistent one. */
    sw_comm_apart_t apart;      /* its slates                               */
    bool bound;                 /* what we made holds for each start        */
} sw_started_t;

/* At the ends of the job. */
void sw_started_start(void);
void sw_started_stop(void);

/* One for a call on `comm`, or NULL: the host serves. Counts the call, for
 * --stats. */
sw_started_t *sw_started_new(int row, MPI_Comm comm);
/* Room for so many bytes, once; for a count of each member; for two datatypes
 * of each. */
void *sw_started_room(sw_started_t *s, size_t bytes);
size_t *sw_started_counts(sw_started_t *s);
const sw_datatype_t **sw_started_types(sw_started_t *s);
/* Its arguments are right: begins it, or makes the persistent one. Returns what
 * the call returns. */
int sw_started_go(sw_started_t *s, MPI_Request *request);
int sw_started_keep(sw_started_t *s, MPI_Request *request);
/* They are not, or the host serves for `reason`. */
void sw_started_drop(sw_started_t *s, int row, sw_reason_t reason);

/* Define sw_MPI_NAME, which gives a request: ours if CHECK, an expression in s,
 * c, &reason and &result, is true. */
#define SW_REQUESTED(NAME, ROW, PARAMETERS, ARGUMENTS, CHECK, GO)       \
int sw_MPI_##NAME(SW_LIST PARAMETERS, MPI_Request *request)             \
{                                                                       \
    int result = MPI_SUCCESS;                                           \
    sw_reason_t reason = SW_REASON_ARGUMENTS;                           \
    sw_started_t *s = sw_started_new(ROW, comm);                        \
    if (s) {                                                            \
        sw_comm_t *c = s->track.comm;                                   \
        if (sw_likely(request && (CHECK)))                              \
            return GO(s, request);                                      \
        sw_started_drop(s, ROW, reason);                                \
        (void)c;                                                        \
        if (result != MPI_SUCCESS)                                      \
            return result;                                              \
    }                                                                   \
    return host.NAME(SW_LIST ARGUMENTS, request);                       \
}
#define SW_LIST(...) __VA_ARGS__

/* A nonblocking procedure, and a persistent one. PARAMETERS and ARGUMENTS end
 * with the communicator. */
#define SW_NONBLOCKING(NAME, ID, PARAMETERS, ARGUMENTS, CHECK)          \
SW_REQUESTED(NAME, SW_CALL_STARTED + ID, PARAMETERS, ARGUMENTS, CHECK,  \
             sw_started_go)
#ifdef SW_HAS_Allreduce_init
# define SW_PERSISTENT(NAME, ID, PARAMETERS, ARGUMENTS, CHECK)          \
SW_REQUESTED(NAME, SW_CALL_INIT + ID,                                   \
             (SW_LIST PARAMETERS, MPI_Info info),                       \
             (SW_LIST ARGUMENTS, info), CHECK, sw_started_keep)
#else
# define SW_PERSISTENT(NAME, ID, PARAMETERS, ARGUMENTS, CHECK)
#endif

/* Define all forms of a procedure that moves blocks, or that reduces. CHECK
 * fills in k, a CALL, and DO(RUN) does the work of the blocking one. HERE and
 * LATER declare what CHECK needs besides, until the call ends, or the
 * collective. */
#define SW_FORMS(CALL, FIELD, HERE, LATER, DO, NAME, INAME, INIT, ID,   \
                 PARAMETERS, ARGUMENTS, CHECK, RUN)                     \
SW_COLLECTIVE(NAME, ID, PARAMETERS, ARGUMENTS, __extension__ ({         \
    CALL call, *k = &call;                                              \
    HERE                                                                \
    (CHECK) ? DO(RUN)                                                   \
            : result != MPI_SUCCESS; }))                                \
SW_NONBLOCKING(INAME, ID, PARAMETERS, ARGUMENTS, __extension__ ({       \
    CALL *k = &s->FIELD;                                                \
    LATER                                                               \
    CHECK; }))                                                          \
SW_PERSISTENT(INIT, ID, PARAMETERS, ARGUMENTS, __extension__ ({         \
    CALL *k = &s->FIELD;                                                \
    LATER                                                               \
    CHECK; }))

#define SW_MOVE(RUN) RUN(c, k, comm, &reason, &result)
#define SW_REDUCTION(RUN) sw_reduction_run(c, k, comm, &reason, &result, RUN)

#define SW_MOVES(...)                                                   \
SW_FORMS(sw_move_t, move, , , SW_MOVE, __VA_ARGS__)
#define SW_REDUCES(...)                                                 \
SW_FORMS(sw_reduction_t, reduction, , , SW_REDUCTION, __VA_ARGS__)

/* The same with `types`, for two datatypes of each member, and with `sizes`,
 * for a count of each. */
#define SW_MOVES_TYPES(...)                                             \
SW_FORMS(sw_move_t, move,                                               \
         SW_ARRAY(const sw_datatype_t *, types, 2 * c->n);,             \
         const sw_datatype_t **types = sw_started_types(s);,            \
         SW_MOVE, __VA_ARGS__)
#define SW_SCATTERS(...)                                                \
SW_FORMS(sw_reduction_t, reduction,                                     \
         SW_ARRAY(size_t, sizes, c->n);,                                \
         size_t *sizes = sw_started_counts(s);, SW_REDUCTION, __VA_ARGS__)

#endif
