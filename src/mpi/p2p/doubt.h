/*
 * doubt.h - descriptors that were cut short.
 *
 * A receive with less room than a descriptor needs may get one: by the
 * program's mistake, which the host finds and raises (MPI_ERR_TRUNCATE). Nobody
 * keeps account of such receives. The slot then stays on offer although nobody
 * will take it, and a probe would take it for the next message.
 *
 * So after such an error this room finds out whether it was a descriptor: by
 * the length that the host tells, the bytes that came, and what is on offer.
 * If it was, the slot is refused. If that cannot be known, the tag is in doubt:
 * a probe that finds several messages on offer then tells the largest.
 */
#ifndef SW_MPI_P2P_DOUBT_H
#define SW_MPI_P2P_DOUBT_H

#include "fetch.h"
#include "mpi/request/track.h"

/* A bit for each hash of a tag in doubt. */
extern _Atomic uint64_t sw_doubts __attribute__((visibility("hidden")));

static inline bool sw_in_doubt(int tag)
{
    return sw_unlikely(sw_doubts) && sw_doubts >> sw_channel(0, tag) & 1;
}

/* The host's answer to a call that completes receives was the error `rc`; what
 * is known of it: statuses (or those that MPI ignores). */
void sw_failed(int rc, int n, const MPI_Status *statuses);
/* Of a receive on this communicator, into this buffer. */
void sw_failed_on(int rc, const MPI_Status *status, MPI_Comm comm,
                  const void *buffer, int64_t count, MPI_Datatype type);

static inline int sw_checked_on(int rc, const MPI_Status *status,
                                MPI_Comm comm, const void *buffer,
                                int64_t count, MPI_Datatype type)
{
    if (sw_unlikely(rc != MPI_SUCCESS))
        sw_failed_on(rc, status, comm, buffer, count, type);
    return rc;
}

#endif
