/*
 * proxy.h - an empty message of the host's that stands for one of ours.
 *
 * A receive from any source is posted with two matchers (either.h). While this
 * rank's program stays in the host, its helper matches for it. When a message
 * of ours comes for such a receive, the helper cannot ask the host whether the
 * receive is still open. A synchronous sender must go on all the same: the
 * program's call in the host may wait for that sender. But a synchronous send
 * is over when its receive is decided (MPI 4.1, 3.4). What the job sends then
 * may come through the host, and must not get the receive.
 *
 * So the host decides. The helper asks the sender, which waits in a call of
 * ours, for a proxy: an empty message through the host, with the same
 * communicator and tag. The host matches that with the first receive that is
 * open there. The proxy is synchronous: when it is over the sender goes on. A
 * receive that has got an empty message of a near rank from the host has met
 * the message of ours behind that proxy. The program's thread delivers it as
 * soon as the host lets the thread go.
 *
 * Earlier messages of the sender that are held up get proxies before, so that
 * MPI's order stays. A question stands in a word of the sender's slot: the tag,
 * how many proxies, whether the last of them is the sender's own, and a state.
 * The helper asks for all that wait at once. The sender answers in the order of
 * its messages.
 *
 *     receiver                        sender
 *     0 -> WANTED, ring               WANTED -> SENDING, send, -> SENT
 *     WANTED -> REFUSED: too late     WANTED -> REFUSED: the communicator is
 *     SENT, REFUSED -> 0                        gone
 *
 * Memory order: both leave WANTED by compare-and-swap, so one of them wins. The
 * sender's release of SENT comes after its send; the receiver acquires that.
 *
 * Where a receive from the sender's source alone matches, too, there is no
 * proxy: the host does not have that receive. The sender goes on at once.
 */
#ifndef SW_MPI_P2P_PROXY_H
#define SW_MPI_P2P_PROXY_H

#include "near_send.h"

/* The receiver's side; the caller has the lock, here and below. */

/* A helper's turn: asks, and hears. */
void sw_proxies_turn(void);
void sw_proxies_start(void);

/* May the sender of a message that is held up go on, as far as its proxy is
 * concerned? */
static inline bool sw_proxy_stands(const sw_early_t *m)
{
    return m->proxied || m->unproxied;
}

/* A thread of the program's is here: no more are sent. What was sent is known
 * from here on. */
void sw_proxy_settle(void);

/* The message for which one stands that the host has given to a receive from
 * any source; NULL: what came is the message of a rank that is not near. */
sw_early_t *sw_proxy_named(const MPI_Status *status, const sw_comm_t *c);

/* Did the host tell of a proxy? On this communicator it has no other message of
 * a near rank. */
static inline bool sw_proxy_is(const MPI_Status *status, const sw_comm_t *c)
{
    int source = status->MPI_SOURCE;
    return source >= 0 && source != c->me && sw_near_is(c, source);
}

/* One has come for which no receive was open. Take it out; `taken`: a probe
 * already has. */
void sw_proxy_remove(const MPI_Status *status, const sw_comm_t *c,
                     MPI_Message *taken);

/* The sender's side. Answer a question that the receiver may have asked: a
 * thread of the program's alone. And is the proxy over, if there is one? */
void sw_proxy_serve(sw_near_send_t *s);
bool sw_proxy_over(sw_near_send_t *s);

#endif
