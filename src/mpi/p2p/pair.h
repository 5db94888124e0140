/*
 * pair.h - MPI_Isendrecv and its kin, where the host does not carry both
 * halves: a request of ours joins a receive and a send, each served as any
 * other.
 */
#ifndef SW_MPI_P2P_PAIR_H
#define SW_MPI_P2P_PAIR_H

#include "mpi/request/scheduled.h"

typedef struct {
    sw_scheduled_t base;
    MPI_Request receive, send;
    MPI_Status status;
    void *block; /* what is sent lies there; NULL: it does not */
} sw_pair_t;

extern const sw_shadow_kind_t sw_pair_kind
    __attribute__((visibility("hidden")));

/* A new one, whose halves the caller begins, the receive first. `block` is
 * freed when it is over. */
sw_pair_t *sw_pair_new(MPI_Comm comm, void *block);
/* Both halves have begun, or one has failed: *request is the pair, or this
 * returns the error, and nothing is under way. */
int sw_pair_begun(sw_pair_t *p, int rc, MPI_Request *request);

#endif
