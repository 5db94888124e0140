/*
 * call.h - one call of a collective, whatever its form: what its arguments say,
 * and which executor carries it out.
 *
 * The entry of each procedure (generated, calls/generate_entries.py) reads so:
 *
 *     begin the call      Is it ours? The host serves many.
 *     describe it         A function for each collective (describe.h) looks at
 *                         this member's arguments. It leaves what looks
 *                         wrong to the host, which raises its own errors.
 *     run it              A blocking call runs in the members' sequence, or
 *                         over their span (carry.c). All others become a
 *                         schedule (started.h).
 *
 * Only a call that runs asks whether the members are ready, where this member
 * may have to wait for the others.
 */
#ifndef SW_MPI_COLL_CALL_H
#define SW_MPI_COLL_CALL_H

#include "mpi/base/away.h"
#include "mpi/base/comm.h"
#include "mpi/turns/turns.h"
#include "sides.h"
#include "move.h"
#include "reduction.h"

#include "coll/scratch.h"
#include "turns/trial.h"
#include "node/base/settings.h"
#include "node/control.h"

typedef enum {
    SW_CALL_BLOCKING,
    SW_CALL_NONBLOCKING,
    SW_CALL_PERSISTENT,
    SW_CALL_FORMS
} sw_call_form_t;
_Static_assert((int)SW_CALL_FORMS == (int)SW_WAYS_FORMS, "the file's forms");

typedef struct sw_coll_call {
    sw_collective_t id;
    sw_call_form_t form;
    MPI_Comm comm;
    sw_comm_t *c;
    MPI_Request *request; /* of one that is not blocking */
    size_t bytes;         /* by signature: the members choose by them */
    union {               /* what the arguments say */
        sw_move_t move;
        sw_reduction_t reduction;
        sw_sides_t sides;
    };
    int result;           /* what the procedure is to return */
    sw_reason_t reason;   /* why the host serves */
    struct sw_lift *lift; /* what the host then gets (lift.h); NULL: no copy */
    sw_trial_t *trial;    /* NULL: the call is not timed (trials.h) */
    /* of sw_blocking_t's bytes; of another call all */
    size_t used;
    sw_scratch_t room; /* what does not fit in there */
} sw_coll_call_t;

/* A blocking call, and room for what describes its arguments. */
enum { SW_CALL_FEW = 384 };
typedef struct {
    sw_coll_call_t call; /* first */
    _Alignas(max_align_t) char few[SW_CALL_FEW];
} sw_blocking_t;

/* Begin a blocking call, or one that gives a request. NULL: the host serves,
 * for call.reason. */
sw_coll_call_t *sw_call_begin(sw_blocking_t *b, sw_collective_t id,
                              MPI_Comm comm);
sw_coll_call_t *sw_call_start(sw_collective_t id, sw_call_form_t form,
                              MPI_Comm comm, MPI_Request *request);
/* Carry a blocking call out whose arguments are `right`; begin the schedule of
 * another, or keep it. True: the procedure returns *rc. False: the host serves,
 * for call.reason. */
bool sw_call_carry_out(sw_coll_call_t *k, bool right, int *rc);
bool sw_call_set_out(sw_coll_call_t *k, bool right, int *rc);

/* Is this call, whose arguments are right, faster by the host? All members say
 * the same: by their communicator, and the bytes by signature. */
static inline bool sw_call_tuned_away(sw_coll_call_t *k)
{
    const sw_ways_entry_t *tuned = k->c->tuned;
    if (sw_likely(!tuned) ||
        !sw_tuned_hosts(tuned, (int)k->form, k->id, k->bytes))
        return false;
    k->reason = SW_REASON_TUNED;
    return true;
}

/* A blocking call returns this, ours or the host's. */
void sw_trials_ended(sw_coll_call_t *k);
static inline int sw_call_ended(sw_coll_call_t *k, int rc)
{
    if (sw_unlikely(sw_settings.guard) && k->trial)
        sw_trials_ended(k);
    if (sw_unlikely(sw_turns_on))
        sw_turns_called(k->id, k->comm, rc);
    return rc;
}

/* Room until the call has ended: beside a blocking call, while there is any
 * (else NULL); anywhere, once for a call, which ends the job where there is
 * none. */
static inline void *sw_call_few(sw_coll_call_t *k, size_t bytes)
{
    if (sw_unlikely(bytes > SW_CALL_FEW - k->used))
        return NULL;
    char *at = ((sw_blocking_t *)k)->few + k->used;
    k->used += sw_round_up(bytes, sizeof(max_align_t));
    return at;
}
void *sw_call_room(sw_coll_call_t *k, size_t bytes);

/* The communicator whose members may serve a call that gives a request; NULL,
 * with the reason: the host does. */
sw_comm_t *sw_call_serves_started(sw_collective_t id, MPI_Comm comm,
                                  sw_reason_t *reason);

/* The call is one that moves; so far this member sends none, and gets none. */
static inline sw_move_t *sw_call_moves(sw_coll_call_t *k, int root,
                                       bool in_place)
{
    k->move.root = root;
    k->move.in_place = in_place;
    k->move.out.form = k->move.in.form = SW_HALF_NONE;
    return &k->move;
}

/* The error class of how a collective has ended (coll/sequence.h). Says what
 * went wrong. */
int sw_call_outcome(sw_collective_t id, int status);

#endif
