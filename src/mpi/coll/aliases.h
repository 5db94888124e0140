/*
 * aliases.h - the same memory given to send and to receive, where MPI_IN_PLACE
 * should stand.
 *
 * MPI forbids it, and a host that raises its error does so at this member
 * alone: the call is then the host's. A call that the host takes, on one member
 * even, we must take as well: the other members cannot know, and would wait for
 * a member that has gone to the host. So a host is asked once what it does, by
 * a call among the one member of a private communicator: users may switch such
 * checks off (MPIR_CVAR_COLL_ALIAS_CHECK, mpi_param_check), and Open MPI makes
 * few. What is taken is carried out in place.
 */
#ifndef SW_MPI_COLL_ALIASES_H
#define SW_MPI_COLL_ALIASES_H

#include "mpi/base/comm.h"
#include "mpi/base/datatype.h"

bool sw_host_refuses_aliases(sw_collective_t id, const void *buffer,
                             int64_t count);

/* Is the host sure to raise its error for `count` elements? */
static inline bool sw_aliased(sw_collective_t id, const void *send,
                              const void *recv, int64_t count)
{
    return sw_unlikely(send == recv) && count &&
           sw_host_refuses_aliases(id, recv, count);
}

/* The same for `count` elements at `one`, and `allcount` elements that begin
 * `place` elements behind `all`; `d` describes them. MPICH compares the places
 * of this member's own block, if counts and datatypes are the same. */
static inline bool sw_aliased_block(sw_collective_t id, const void *one,
                                    int64_t count, MPI_Datatype type,
                                    const void *all, int64_t place,
                                    int64_t allcount, MPI_Datatype alltype,
                                    const sw_datatype_t *d)
{
    return count == allcount && type == alltype && d->dense &&
           sw_aliased(id, one, (const char *)all + place * (int64_t)d->size,
                      count);
}

#endif
