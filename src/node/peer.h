/*
 * peer.h - the other processes of the node, and how their memory is reached.
 *
 * Processes introduce themselves with a card (sw_card_t), which the MPI room
 * passes around. The reader believes nothing on a card. The control segment
 * found through /proc/PID/fd must hold the card's token: that tells a recycled
 * pid apart, and a process of another container or pid namespace. The reader
 * opens a file only if its device and inode are the card's. For the program may
 * have closed our descriptor, and opened its own file at that number. The
 * reader proves CMA by reading the token out of the peer's own memory.
 *
 * A peer once attached stays attached until the process ends: its mappings
 * cost address space only, and communicators come and go.
 *
 * A part (sw_part_t) is a stretch of a process's memory as its peers reach it:
 *
 *   SW_FORM_ARENA   `address` is an offset in the owner's arena file, which
 *                   the reader has mapped: plain loads and stores
 *   SW_FORM_CMA     `address` is the owner's own: process_vm_readv/writev
 */
#ifndef SW_NODE_PEER_H
#define SW_NODE_PEER_H

#include "segment.h"

typedef enum {
    SW_FORM_NONE,
    SW_FORM_INLINE, /* in the message's entry itself (coll/sequence.h) */
    SW_FORM_STAGED, /* in the member's staging       (coll/sequence.h) */
    SW_FORM_SHOWN,  /* with gaps, in the arena      (layout/data.h) */
    SW_FORM_PACKED, /* being packed, in the arena  (coll/packing.h) */
    SW_FORM_ARENA,
    SW_FORM_CMA,
    SW_FORM_FAILED, /* its member has none          (coll/source.h) */
    SW_FORM_PUMPED, /* a chunk at a time            (offload/pump.h) */
} sw_form_t;

typedef struct {
    uint64_t address;
    uint64_t bytes;
    uint32_t form; /* sw_form_t */
    uint32_t reserved;
} sw_part_t;

#define SW_CARD_MASK 4 /* 64-bit words of the processor mask on a card */

typedef struct {
    sw_token_t token;
    sw_file_id_t control_file, arena_file;
    uint64_t control_span;       /* bytes; 0: no control segment */
    uint64_t arena_span;         /* bytes; 0: no arena */
    uint64_t proof;              /* address of the token, for the CMA probe */
    uint64_t mask[SW_CARD_MASK]; /* processors it may run on */
    int32_t control_fd, arena_fd;
    int32_t pid;
    int32_t processors; /* how many it may run on */
} sw_card_t;

typedef struct {
    sw_card_t card;
    bool self;
    bool cma;             /* probed: we can read its memory */
    _Atomic bool refused; /* ... but the system has refused since */
    uint64_t start;       /* of the process, as the system counts */
    char *arena;          /* our mapping of its arena, or NULL */
    char *control;        /* our mapping of its control segment */
} sw_peer_t;

/* The longest mapping of a peer's memory that this process makes, in bytes. A
 * peer with a longer one does not share memory with this process. */
SW_API extern uint64_t sw_peer_most;

/* Fill in this process's card. False: the system refuses shared memory, and
 * the host serves everything. */
SW_API bool sw_peer_card(sw_card_t *to);

/* The peer of a card, attached at the first meeting: its identity verified,
 * arena mapped and CMA probed. NULL: it does not share memory with us (or
 * cannot be attached). Thread safe. */
SW_API sw_peer_t *sw_peer_attach(const sw_card_t *card);

/* The peer that has this token, if it is attached; else NULL. */
SW_API sw_peer_t *sw_peer_known(const sw_token_t *token);

/* Map the peer's control segment if it is not yet; false when refused. */
SW_API bool sw_peer_control(sw_peer_t *peer);

/* Has the process ended, whatever has its number now? A few microseconds: for
 * waits that last. */
SW_API bool sw_peer_gone(const sw_peer_t *peer);

/* One turn of a wait for a peer that does nothing but copy a piece. True: it
 * has ended instead. `turns` begins at 0. */
SW_API bool sw_peer_turn(const sw_peer_t *peer, unsigned *turns);

/* Ranks per core, from the cards of all peers met so far. */
SW_API double sw_peer_crowd(void);

/* Where `n` bytes at `offset` of a part can be loaded and stored directly, or
 * NULL if the part's form does not allow it. */
static inline char *sw_peer_window(const sw_peer_t *peer, const sw_part_t *part,
                                   uint64_t offset)
{
    return part->form == SW_FORM_ARENA ? peer->arena + part->address + offset
                                       : NULL;
}

/* Copy between our memory and a part. Returns 0, or -1 with errno. */
SW_API int sw_peer_read(const sw_peer_t *peer, const sw_part_t *part,
                        uint64_t offset, void *to, size_t n);
SW_API int sw_peer_write(const sw_peer_t *peer, const sw_part_t *part,
                         uint64_t offset, const void *from, size_t n);

#endif
