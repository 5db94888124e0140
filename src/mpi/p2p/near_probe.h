/*
 * near_probe.h - probes for messages of near ranks, and the messages that
 * matched probes take out.
 *
 * MPI_Message handles must be ones that the host can convert. So a message that
 * is taken out is known by a message of the host's: an empty one of this
 * process to itself, on a communicator that no other code uses.
 */
#ifndef SW_MPI_P2P_NEAR_PROBE_H
#define SW_MPI_P2P_NEAR_PROBE_H

#include "near.h"

/* What a probe looks for, on which communicator. False: the host has what it
 * looks for, or judges it. */
bool sw_near_probes(sw_pattern_t *p, sw_comm_t **c, int source, int tag,
                    MPI_Comm comm);

int sw_near_iprobe(sw_comm_t *c, const sw_pattern_t *p, bool blocking,
                   int *flag, MPI_Status *status);
int sw_near_improbe(sw_comm_t *c, const sw_pattern_t *p, bool blocking,
                    int *flag, MPI_Message *message, MPI_Status *status);

/* What was found: a message of ours; or NULL, and the host has answered. */
typedef struct {
    sw_early_t *early;
    int rc;
    MPI_Message message;
    MPI_Status status;
} sw_near_found_t;

/* Where either matcher may have a message, each comes first now and then: near
 * ranks that send all the time would keep the others waiting for ever. */
bool sw_near_hosts_turn(void);

/* Wait for a message, and take it out; one of ours without a handle. */
void sw_near_await_message(sw_comm_t *c, const sw_pattern_t *p,
                           sw_near_found_t *found);

/* What a handle stands for, taken; the handle becomes MPI_MESSAGE_NULL. NULL:
 * the message is the host's. The caller drops *comm. */
sw_early_t *sw_near_message(MPI_Message *handle, sw_comm_t **comm);
/* The same, which stays. */
bool sw_near_knows(const MPI_Message *handle, sw_comm_t **comm);

#endif
