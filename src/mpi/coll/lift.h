/*
 * lift.h - data in a GPU's memory, for a collective that the host serves.
 *
 * Some collectives remain the host's: over several nodes, with an operation of
 * the program, of a single member, where the members cannot meet. A host that
 * knows no GPU would crash there. With --gpu this member then lifts its data
 * into ordinary memory, with the gaps that they have. The host gets the copies
 * in place of the program's buffers, and what it has received goes back.
 *
 * No other member takes part, so each decides alone: the host's collective has
 * the same arguments but for the addresses.
 *
 * Only blocking calls are lifted, and no neighbourhood collectives.
 */
#ifndef SW_MPI_COLL_LIFT_H
#define SW_MPI_COLL_LIFT_H

#include "call.h"
#include "mpi/base/aware.h"

typedef struct sw_lift sw_lift_t;

/* May a blocking call need it? */
static inline bool sw_lift_serves(sw_collective_t id)
{
    return sw_device_possible() && sw_aware_lacks() && id != SW_COLL_BARRIER &&
           !sw_collective_is_near(id);
}

/* The call, whose arguments are right, has data in a GPU: copies of all that
 * the host reads or writes. NULL: it has none. */
sw_lift_t *sw_lift(const sw_coll_call_t *k);
/* The copies' addresses replace the procedure's arguments. */
void sw_lift_replace(const sw_lift_t *l, const void **send, void **receive);
void sw_lift_end(sw_lift_t **lift);

/* The host is about to serve `call` (NULL: no part of ours has looked at its
 * arguments). The lift lasts to the end of the block. */
#define SW_LIFT(call, send, receive)                                         \
    __attribute__((cleanup(sw_lift_end)))                                    \
    sw_lift_t *sw_up = sw_device_possible() && (call) ? (call)->lift : NULL; \
    if (sw_unlikely(sw_up != NULL))                                          \
    sw_lift_replace(sw_up, (send), (receive))

#endif
