/*
 * known_comm.h - what the profile knows of a communicator: a part of its state
 * (mpi/base/comm.h), made when the profile first meets the communicator.
 *
 * Each has a number in the capture, and an `id` that is alike on all its
 * members. By the id a report puts their views together, and partners find each
 * other's stamps. It is made from the members' ranks in MPI_COMM_WORLD, and
 * from how many communicators of just these members came before. All of them
 * take part in the making of each, in the same order, so they need not
 * communicate. Members from another MPI_COMM_WORLD have no ranks here: id 0.
 *
 * The id is not the context id of messages (mpi/base/context_id.c), since each
 * serves where the other cannot. A profile needs an id for intercommunicators,
 * for what a request makes, and on nodes where no message is ours: no context
 * id is there. A context id must stay right where threads make communicators of
 * the same members at once, from different parents: there the id's count may
 * differ, which spoils a view of the profile, but no message.
 *
 * The part stays when the communicator goes: requests may outlive it (MPI 4.1,
 * 7.4.3).
 */
#ifndef SW_MPI_CALLS_KNOWN_COMM_H
#define SW_MPI_CALLS_KNOWN_COMM_H

#include "mpi/base/comm.h"
#include "profile/record/board.h"

typedef struct {
    MPI_Comm handle;
    uint64_t id;
    uint64_t collectives;    /* begun so far */
    uint64_t windows;        /* made so far */
    const sw_members_t *own; /* the own group; NULL: not known */
    /* ranks in MPI_COMM_WORLD of those that messages go to (the remote group);
     * NULL: not known */
    const int *world;
    int n, me;   /* own group */
    int targets; /* messages go to these: n, or remote size */
    /* of these, on other nodes: how many, and the first and the last of them */
    int away;
    int first_away, last_away;
    bool inter;
    uint16_t number; /* in the catalogue */
    int outs, ins;   /* neighbours; -1: not asked yet */
    /* [ins] the members received from, and behind them [outs] those sent to */
    int *in;
    /* numbers in virtual time (mpi/virtual/); -1: not told yet */
    int64_t context, aside;
    /* of two groups there, the own one is the second */
    bool second;
} sw_known_comm_t;

/* A part of the communicator's state, for as long as that lasts. */
extern sw_comm_part_t sw_known_comm_part __attribute__((visibility("hidden")));

/* NULL: the profile has not met it. Calls nothing of the host's. */
static inline sw_known_comm_t *sw_known_comm(MPI_Comm comm)
{
    sw_comm_t *c = sw_registry_cached(sw_comm_cache, SW_COMMS_CACHED,
                                      (uintptr_t)comm);
    if (sw_unlikely(!c) && !(c = sw_comm_look_up(comm)))
        return NULL;
    return atomic_load_explicit(&c->part[sw_known_comm_part.place],
                                memory_order_acquire);
}
/* The same, met now at need. `comm` must be valid. */
sw_known_comm_t *sw_known_comm_meet(MPI_Comm comm);
/* A communicator was made by a procedure ("dup") from `parent`. */
void sw_known_comm_made(const char *how, MPI_Comm parent, MPI_Comm comm);
/* One is being made of the parent's members and is not there yet: its id, which
 * is alike on all members that begin to make it in the same order; 0: it has
 * none. And then it is there. */
uint64_t sw_known_comm_promise(MPI_Comm parent);
void sw_known_comm_kept(const char *how, MPI_Comm parent, MPI_Comm comm,
                        uint64_t id);
void sw_known_comm_rename(MPI_Comm comm, const char *name);

/* Fill in the neighbours of one with a topology, or none. */
void sw_known_comm_ask_neighbours(sw_known_comm_t *c);

/* A member's rank in MPI_COMM_WORLD, or -1. */
static inline int64_t sw_known_rank(const sw_known_comm_t *c, int member)
{
    return c && c->world && member >= 0 && member < c->targets
               ? c->world[member]
               : -1;
}

/* Is that member on another node? False where it has no rank there. */
static inline bool sw_known_is_away(const sw_known_comm_t *c, int member)
{
    int64_t rank = sw_known_rank(c, member);
    return rank >= 0 && !sw_roster_is_near((int)rank);
}

/* The boards of the node's ranks, by place (NULL: out of reach), and this
 * process's, or NULL. */
extern const sw_board_t **sw_boards __attribute__((visibility("hidden")));
extern sw_board_t *sw_board __attribute__((visibility("hidden")));

/* The board of a rank in MPI_COMM_WORLD, or NULL: not on this node. */
static inline const sw_board_t *sw_board_of(int64_t rank)
{
    int place = sw_roster_place((int)rank);
    return sw_boards && place >= 0 ? sw_boards[place] : NULL;
}

#endif
