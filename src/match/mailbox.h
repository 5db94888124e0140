/*
 * mailbox.h - a process's pipes: one from each other process of the node.
 *
 * A mailbox lies in its owner's control segment. Each sender opens its pipe
 * (pipe.h) when it first sends, so memory is touched only for processes that
 * send.
 *
 *     line 0       the owner's doorbell, and a bit for each place that has sent
 *     pipes        one for each place on the node
 *
 * While few places send the owner looks at all their pipes: each look is a load
 * of a line that stays in its cache until a message comes. Where many send, the
 * bits tell which pipes to look at. The owner clears a bit when it has found
 * the pipe empty again and again. A sender sets its bit if it is clear, after
 * it has published.
 *
 * Memory order. The sender may see a bit that is just being cleared, and its
 * message be missed. A fence would cost each message 20 ns. Instead the owner
 * looks at one more pipe in each turn, at all before it sleeps, and each sleep
 * ends soon (node/wait.h).
 */
#ifndef SW_MATCH_MAILBOX_H
#define SW_MATCH_MAILBOX_H

#include "node/peer.h"
#include "node/wait.h"
#include "pipe.h"

#define SW_MAILBOX_PLACES 1024

typedef struct {
    _Alignas(SW_LINE) sw_doorbell_t doorbell;
    _Atomic uint64_t rung[SW_MAILBOX_PLACES / 64];
} sw_mailbox_t;

/* A sender's way into another process's mailbox. */
typedef struct {
    sw_pipe_out_t pipe;
    sw_mailbox_t *mailbox; /* NULL: it was never needed */
    _Atomic uint64_t *rung;
    uint64_t bit;
    const sw_peer_t *peer;
    uint64_t offset; /* of the mailbox in the peer's segment */
    uint64_t came;   /* sw_mailbox_came at the last message */
} sw_mailbox_out_t;

/* This process's mailbox, for so many places: its offset in the segment; 0:
 * there is no room, or there are too many places. Made once. */
SW_API uint64_t sw_mailbox_open(int places, int me);

/* Largest payload of a message in a pipe; constant after sw_mailbox_open. */
extern SW_API size_t sw_mailbox_most;
/* The owner's doorbell. Each sender rings it, and each taker of what the owner
 * offers. */
extern SW_API sw_doorbell_t *sw_mailbox_doorbell;
/* Ring that of a place, for something that has happened outside its mailbox. */
SW_API void sw_mailbox_ring(int place);

/* Another place's mailbox lies there. */
SW_API bool sw_mailbox_meet(int place, const sw_peer_t *peer, uint64_t offset);
SW_API sw_mailbox_out_t *sw_mailbox_first(int place);
extern SW_API sw_mailbox_out_t *sw_mailbox_outs;

/* The way to a place. NULL: no memory. */
static inline sw_mailbox_out_t *sw_mailbox_to(int place)
{
    sw_mailbox_out_t *out = &sw_mailbox_outs[place];
    return sw_likely(out->mailbox) ? out : sw_mailbox_first(place);
}

/* Cells for a message; NULL: there is no place now. */
static inline sw_cell_t *sw_mailbox_reserve(sw_mailbox_out_t *out, size_t bytes)
{
    return sw_pipe_reserve(&out->pipe, bytes);
}

/* Messages that have come here. */
extern SW_API uint64_t sw_mailbox_came;

static inline void sw_mailbox_send(sw_mailbox_out_t *out, sw_cell_t *cell)
{
    uint32_t lines = sw_cell_count(sw_cell_bytes(cell));
    sw_pipe_publish(&out->pipe, cell);
    /* The other side may wait for an answer: it gets the lines sooner. Of a
     * stream it would get them later. */
    if (out->came != sw_mailbox_came)
        for (uint32_t i = 0; i < lines; i++)
            sw_os_hand_line(cell + i);
    out->came = sw_mailbox_came;
    if (sw_unlikely(!(atomic_load_explicit(out->rung, memory_order_relaxed) &
                      out->bit)))
        atomic_fetch_or_explicit(out->rung, out->bit, memory_order_release);
    sw_doorbell_ring(&out->mailbox->doorbell);
}

/* Gives a message that has come to the matcher, which may refuse it for lack of
 * memory: then it stays in its pipe. `place`: the sender's. */
typedef bool sw_mailbox_taker_t(int place, const sw_cell_t *cell);

/* One turn: take what has come, from the pipes of which that is known, or from
 * all. Returns how many messages. One thread at a time. */
SW_API unsigned sw_mailbox_turn(bool all, sw_mailbox_taker_t *take);

#endif
