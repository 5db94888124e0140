/*
 * trials.h - blocking collectives that the host does faster here are left to it
 * (--guard).
 *
 * Each communicator whose members share a node has a trial (turns/trial.h) for
 * each collective and size, of the first 16 that it calls. The members count
 * the calls of each alike: its bytes are by signature, and only calls whose
 * arguments are right count. To settle a trial, the members reduce the stamps
 * of all in their sequence, at the next such call.
 */
#ifndef SW_MPI_COLL_TRIALS_H
#define SW_MPI_COLL_TRIALS_H

#include "call.h"

/* A call whose arguments are right begins: does the host serve it? */
bool sw_trials_host_guarded(sw_coll_call_t *k);
static inline bool sw_trials_host(sw_coll_call_t *k)
{
    return sw_unlikely(sw_settings.guard) && sw_trials_host_guarded(k);
}

#endif
