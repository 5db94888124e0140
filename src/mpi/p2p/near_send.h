/*
 * near_send.h - sends on near communicators (near.h).
 *
 * A short message is copied into the receiver's mailbox, and its sender goes
 * on. A longer one is offered (p2p/slot.h): the receiver copies from the
 * sender's memory, or from what the sender gathers in the arena. Where the
 * mailbox has no place at all the send waits in a queue of its receiver's, so
 * that the order stays.
 */
#ifndef SW_MPI_P2P_NEAR_SEND_H
#define SW_MPI_P2P_NEAR_SEND_H

#include "near_receive.h"

typedef enum {
    SW_SEND_STANDARD,
    SW_SEND_SYNCHRONOUS, /* complete only when a receive has met it */
    SW_SEND_BUFFERED,    /* complete at once */
    /* standard, and a receive is there: of the host's */
    SW_SEND_READY,
} sw_send_mode_t;

typedef struct sw_near_send {
    sw_near_t what;
    sw_send_mode_t mode;
    int place;       /* the receiver's */
    sw_data_t data;  /* the program's, or what was packed */
    void *packed;    /* to be freed */
    sw_slot_t *slot; /* NULL: none, or none yet */
    sw_offer_t offer;
    /* The data lie in a device's memory (near_device.h), and here for peers. */
    bool device;
    sw_shown_t form;
    sw_ipc_t at_device;
    sw_parcel_name_t given; /* at is 0: nothing is given */
    bool blocking;          /* its program waits for it */
    bool sent;              /* it is in the mailbox */
    uint64_t order;         /* among those that are offered */
    bool proxied;           /* see proxy.h; then */
    MPI_Request proxy;
    bool in_pieces;              /* see near_pieces.h */
    bool pulled;                 /* then: by its receiver */
    uint64_t wanted, at;         /* so many bytes, and so many are sent */
    struct sw_near_send *behind; /* among those that are pulled */
    unsigned turns;
    /* the buffer is the program's again, and a synchronous one has met its
     * receive */
    _Atomic bool done;
    bool detached; /* frees itself: its program has forgotten it */
    /* in a queue, or among those under way; NULL: in none */
    struct sw_near_send *after, *before;
    struct sw_near_send **list;
} sw_near_send_t;

/* Its request. */
typedef struct {
    sw_scheduled_t base;
    sw_near_send_t send;
} sw_near_isend_t;

extern const sw_shadow_kind_t sw_near_isend_kind
    __attribute__((visibility("hidden")));

void sw_near_sends_start(void);
/* Go on with sends under way; the caller has the lock. Are there any? A thread
 * of the program then disposes of those that are over and that it has
 * forgotten. */
void sw_near_sends_turn(void);
void sw_near_sends_dispose(void);
bool sw_near_sends_any(void);

int sw_near_send(const sw_near_t *what, sw_send_mode_t mode);
int sw_near_isend(const sw_near_t *what, sw_send_mode_t mode,
                  MPI_Request *request);
int sw_near_send_init(const sw_near_t *what, sw_send_mode_t mode,
                      MPI_Request *request);

/* Gives a parcel away, whose bytes `what` describes: no thread waits for the
 * taker. The receiver is another rank. */
void sw_near_send_parcel(const sw_near_t *what, const sw_parcel_name_t *given);

/* Has the receiver died, which would pull its pieces? Looks only from time to
 * time. */
bool sw_near_send_forsaken(sw_near_send_t *s);

/* Copy what this process offers to itself, and release the send: as
 * sw_slot_take. */
int sw_near_fetch_own(const sw_near_offer_t *offer, const sw_target_t *to);

#endif
