/*
 * sends.h - tracks of sends of a descriptor.
 *
 * Such a send is complete when the host has sent the descriptor and the
 * receiver, or a copy aside, has released the slot. Its handle is a persistent
 * request's or a synchronous send's, because hosts give one and the same handle
 * to many small sends.
 */
#ifndef SW_MPI_P2P_SENDS_H
#define SW_MPI_P2P_SENDS_H

#include "mpi/request/track.h"
#include "p2p/slot.h"

typedef struct {
    sw_track_t track;
    bool synchronous;
    bool lasts;                     /* its first start shows the data       */
    /* NULL while a persistent one goes through the host as `plain` (route.h),
     * which is a persistent request, too: made with it, for the program may
     * free the communicator and the datatype. */
    sw_slot_t *slot;
    sw_offer_t offer;
    MPI_Request plain;
    const sw_datatype_t *type;      /* held, of a persistent one; or NULL   */
    sw_descriptor_t descriptor;
} sw_send_t;

/* NULL when out of memory. */
sw_send_t *sw_send_new(sw_slot_t *slot, const sw_offer_t *offer,
                       const sw_descriptor_t *descriptor, sw_comm_t *comm);

/* Have all arrived whose requests the program has freed? `gone` as in
 * sw_slots_quiet. */
bool sw_sends_quiet(bool (*gone)(int place));

extern const sw_track_kind_t sw_send_kind __attribute__((visibility("hidden")));

#endif
