/*
 * trials.h - blocking collectives that the host does faster here are left to it
 * (--guard).
 *
 * Each communicator whose members share a node has a trial (turns/trial.h) for
 * each collective and size. The members count the calls of each alike: its
 * bytes are by signature, and only calls whose arguments are right count. The
 * host is asked for the latest stamps of all members, in such a call of all.
 */
#ifndef SW_MPI_COLL_TRIALS_H
#define SW_MPI_COLL_TRIALS_H

#include "call.h"

/* A call whose arguments are right begins: does the host serve it? */
bool sw_trials_host(sw_coll_call_t *k);

#endif
