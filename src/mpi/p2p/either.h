/*
 * either.h - receives from any source on a communicator some of whose members
 * are near (near.h): the host may have the message, or we.
 *
 * A blocking one asks both in turns, as a probe does. A nonblocking one is
 * posted with both, so each matcher keeps it in MPI's order among its own
 * receives. One message may meet it only. So before a message of ours does, the
 * host's part is cancelled: a receive that is cancelled either ends cancelled,
 * or has a message (MPI 4.1, 3.8.4). If the host has not settled that yet, what
 * comes from near ranks waits in its order (match/matcher.h).
 *
 * A helper thread calls no host, so it settles nothing. While this rank's
 * program stays in the host the messages wait. The sender of a synchronous one
 * goes on as soon as the host knows that a receive has met it (proxy.h).
 */
#ifndef SW_MPI_P2P_EITHER_H
#define SW_MPI_P2P_EITHER_H

#include "near_receive.h"

static inline bool sw_is_either(const sw_near_t *w)
{
    return sw_unlikely(w->comm->near == SW_NEAR_SOME) &&
           w->partner == SW_PATTERN_ANY;
}

void sw_either_start(void);

int sw_either_recv(const sw_near_t *what, MPI_Status *status);
int sw_either_itake(const sw_near_t *what, void **into, MPI_Request *request);
int sw_either_recv_init(const sw_near_t *what, MPI_Request *request);

/* A helper begins to match, or ends; it has the lock. */
void sw_either_helps(bool begins);

/* Does the host have a part of such a receive now? */
bool sw_either_asks(void);

extern const sw_shadow_kind_t sw_either_kind
    __attribute__((visibility("hidden")));

#endif
