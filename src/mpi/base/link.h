/*
 * link.h - how the ranks of this node reach each other for point-to-point
 * messages.
 *
 * A message has two parties, and its sender alone decides how it goes; so both
 * must have settled beforehand what works between them. The roster (world.h)
 * settles that once, at the end of MPI_Init. Programs with sessions only have
 * no such moment: there the host carries all messages.
 *
 * `context_id` names a communicator alike on all its members of the node
 * (context_id.c). A probe finds a message's true length by it (probe.c). One
 * whose members could not name it has context id 0, and no link.
 */
#ifndef SW_MPI_BASE_LINK_H
#define SW_MPI_BASE_LINK_H

#include "comm.h"
#include "world.h"
#include "p2p/ledger.h"
#include "p2p/slot.h"

typedef struct sw_link {
    sw_peer_t *peer;
    int place;              /* of the other, on the node                  */
    uint64_t directory;     /* of its slots                               */
    bool open;              /* it reaches our arena, and we its slots     */
    _Atomic bool warned;    /* by us: sw_slots_warn                       */
    sw_row_t row;           /* ours in its ledger (p2p/ledger.h)          */
    /* Messages as long as a descriptor that we have sent it, by channel; and
     * channels on which nobody counts them. */
    sw_count_t sent[SW_CHANNELS];
    _Atomic uint64_t uncounted;
    /* Of the messages that it has offered up to this one, some may have been
     * cut short: see doubt.h. */
    _Atomic uint64_t doubtful;
    /* With threads: descriptors that are between the look at `sent` and the
     * host. A thread that sends such a message waits for those of others. */
    sw_count_t under_way[SW_CHANNELS];
} sw_link_t;

/* Are there links at all? Constant after MPI_Init, unless a benchmark wants the
 * host alone (node/control.h). */
extern bool sw_linked __attribute__((visibility("hidden")));
extern sw_token_t sw_link_cookie __attribute__((visibility("hidden")));

/* Tell the node where our slots and our ledger are. */
void sw_link_offer(sw_hello_t *to);
/* After the handshake; true on those of a node on which messages can move in
 * our way. */
bool sw_link_start(void);

/* Drive the host's progress. */
void sw_link_poke(void);

/* The link of a place on the node, or NULL. */
sw_link_t *sw_link_at(int place);

/* The communicator's links, one for each member (NULL: go through the host);
 * NULL if it has none. */
sw_link_t **sw_links_slow(sw_comm_t *c);

static inline sw_link_t *sw_link(sw_comm_t *c, int member)
{
    if (member < 0 || member >= c->n)
        return NULL;
    sw_link_t **link = c->link ? c->link : sw_links_slow(c);
    return link ? link[member] : NULL;
}

#endif
