/*
 * near_receive.h - receives on near communicators (near.h).
 *
 * A receive is posted with the matcher. When a message meets it, in any MPI
 * call of this rank, the message's bytes go to the program's buffer, and
 * `done` says so. Nothing but a message's own bytes ever lies there.
 */
#ifndef SW_MPI_P2P_NEAR_RECEIVE_H
#define SW_MPI_P2P_NEAR_RECEIVE_H

#include "near.h"
#include "mpi/request/scheduled.h"
#include "p2p/slot.h"

typedef struct {
    sw_posted_t posted; /* first */
    sw_near_t what;     /* bytes: the room */
    /* What has come; after `done` (acquire). */
    _Atomic bool done;
    int source, tag, error; /* error: an MPI error class, or 0 */
    size_t bytes;           /* that were received */
    char *block;            /* the host unpacks it, sw_near_received */
    /* of straightway_itake: the program's pointer to the buffer; or NULL */
    void **into;
    void *parcel; /* ... that has come in the buffer's stead */
    bool cancelled;
} sw_near_receive_t;

/* Its request. */
typedef struct {
    sw_scheduled_t base;
    sw_near_receive_t receive;
} sw_near_irecv_t;

extern const sw_shadow_kind_t sw_near_irecv_kind
    __attribute__((visibility("hidden")));

/* What the sender of a large message offers: a payload of SW_CELL_OFFER. */
typedef struct {
    uint64_t bytes;
    uint64_t send; /* its address; 0: it needs no sender */
    /* See p2p/slot.h. No slot: the data comes in pieces (near_pieces.h), or
     * from this process. */
    uint64_t slot, ticket;
    union {
        bool synchronous; /* its sender waits until it is met */
        char *copy;       /* see sw_near_secure */
    };
} sw_near_offer_t;

/* A message meets its receive: sw_matcher_meet. */
void sw_near_meet(sw_posted_t *posted, const sw_envelope_t *e,
                  const void *payload);

/* Bytes of a message that waits. */
static inline size_t sw_near_length(const sw_envelope_t *e, const void *payload)
{
    return e->kind == SW_CELL_DATA ? e->bytes
                                   : ((const sw_near_offer_t *)payload)->bytes;
}

/* The slot of a message whose sender, another rank, waits until it is met; else
 * NULL. */
sw_slot_t *sw_near_synchronous(const sw_early_t *m);
/* It cannot be met yet: copy its data, and release the sender. Makes no MPI
 * call. */
void sw_near_secure(sw_early_t *m);

/* Where a receive's bytes go. */
sw_data_t sw_near_target(const sw_near_receive_t *r);

/* Describe it, and post it with what its bytes need. */
void sw_near_prepare(sw_near_receive_t *r, const sw_near_t *what);
void sw_near_equip(sw_near_receive_t *r);
void sw_near_post(sw_near_receive_t *r);
/* The program will not hear when it completes: an itake's buffer stays. The
 * caller has the lock. */
void sw_near_keep_buffer(sw_near_receive_t *r);
/* Wait for it: what a blocking call returns. */
int sw_near_finish(sw_near_receive_t *r, MPI_Status *status);

/* It is done: the program's status, and the error class. */
int sw_near_received(sw_near_receive_t *r, MPI_Status *status);

int sw_near_recv(const sw_near_t *what, MPI_Status *status);
int sw_near_irecv(const sw_near_t *what, MPI_Request *request);
/* A block that is given replaces the buffer, to which *into points. */
int sw_near_itake(const sw_near_t *what, void **into, MPI_Request *request);
int sw_near_recv_init(const sw_near_t *what, MPI_Request *request);

/* Receive a message that a probe has taken out. */
int sw_near_mrecv(const sw_near_t *what, sw_early_t *m, MPI_Status *status);
int sw_near_imrecv(const sw_near_t *what, sw_early_t *m, MPI_Request *request);

/* The parcel that a message gives, held; NULL: it gives none, or one out of
 * reach. */
void *sw_near_accept(const sw_envelope_t *e, const void *payload);

/* Set the status of a message; keeps MPI_ERROR. */
void sw_near_status(MPI_Status *status, int source, int tag, size_t bytes);

#endif
