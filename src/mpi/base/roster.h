/*
 * roster.h - the processes of this node that share MPI_COMM_WORLD: one roster.
 *
 * At the end of MPI_Init the ranks of a node make one handshake. They tell each
 * other all that any part of Straightway needs to know of a peer, and try out
 * what they reach of each other. Messages (link.h), collectives (comm.c), the
 * profile and virtual time take it from here. From then on each rank knows
 * without communication whether the members of a communicator are on its node.
 *
 * A place is a rank's number on the node. Places follow the ranks in
 * MPI_COMM_WORLD. The roster grows with the node, never with the job.
 *
 * Without MPI_COMM_WORLD (a program that uses sessions only) there is no such
 * moment, and the roster has no places. A host that cannot tell which ranks
 * share memory leaves each rank alone on it. A process that comes later
 * (spawned, or met by connect and accept) is in no roster: sw_roster_place
 * finds no place for it. To serve such a process, that function would have to
 * give it a place.
 */
#ifndef SW_MPI_BASE_ROSTER_H
#define SW_MPI_BASE_ROSTER_H

#include "host.h"
#include "members.h"
#include "coll/agreement.h"

/* The facts about itself that a rank tells the others of its node. A room that
 * is switched off leaves its fields zero. */
typedef struct {
    sw_introduction_t self; /* card.control_span is 0: shares nothing */
    uint64_t mailbox;       /* in its segment (match/mailbox.h), or 0 */
    uint64_t board;         /* in its segment: profile/record/board.h */
    int32_t rank;           /* in MPI_COMM_WORLD */
    uint32_t version;
    uint32_t messages; /* are some of its messages ours? (link.h) */
    uint64_t drawn;    /* a number that no other process has */
    uint64_t tuned;    /* hash of its table: tuned.h */
} sw_hello_t;

typedef struct {
    sw_hello_t said;
    sw_peer_t *peer; /* NULL: not attached */
    /* SW_AGREE_* bits: what this rank reaches of it, what it reaches of this
     * rank, and what it reaches of all the ranks on its virtual node. */
    uint8_t reach, reached, reaches_all;
    uint8_t patience; /* SW_PATIENCE_* bits */
} sw_place_t;

typedef struct {
    /* of the node's ranks, hidden from the program; MPI_COMM_NULL: the host
     * names no node */
    MPI_Comm comm;
    int places;      /* 0: no handshake */
    int place;       /* of this rank */
    int ranks, rank; /* in MPI_COMM_WORLD */
    /* the rank at place 0, and how many places from there on have consecutive
     * ranks */
    int first, run;
    /* the first rank in MPI_COMM_WORLD on this node, or on this rank's virtual
     * one */
    int node;
    int level;      /* MPI_THREAD_* */
    uint64_t job;   /* alike on all ranks of MPI_COMM_WORLD, on no others */
    bool spawned;   /* by another job's MPI_Comm_spawn */
    sw_place_t *at; /* [places] */
} sw_roster_t;

extern sw_roster_t sw_roster __attribute__((visibility("hidden")));

/* Does the program have MPI_THREAD_MULTIPLE? */
extern bool sw_threaded __attribute__((visibility("hidden")));

/* Make this rank's board for the profile, and return where it lies in the
 * segment, or 0. NULL: nothing is profiled. */
extern uint64_t (*sw_roster_board)(void) __attribute__((visibility("hidden")));

/* The handshake, after the host's MPI_Init; and before its MPI_Finalize. */
void sw_roster_start(void);
void sw_roster_stop(void);

/* Are MPI_COMM_WORLD and MPI_COMM_SELF there? Not with sessions only. */
bool sw_roster_has_world(void);

/* Which virtual node a test has put this rank on; 0 without one. */
int sw_roster_virtual_node(void);

/* Fills in what this process tells others. False: it cannot share memory. */
bool sw_roster_self(sw_introduction_t *to);

int sw_roster_place_far(int rank);

/* The place of a rank in MPI_COMM_WORLD; -1: it is not on this node. */
static inline int sw_roster_place(int rank)
{
    unsigned at = (unsigned)rank - (unsigned)sw_roster.first;
    if (sw_likely(at < (unsigned)sw_roster.run))
        return (int)at;
    return sw_roster.run == sw_roster.places ? -1 : sw_roster_place_far(rank);
}

/* Is a rank in MPI_COMM_WORLD on this rank's node, or its virtual one? */
static inline bool sw_roster_is_near(int rank)
{
    int place = sw_roster_place(rank);
    return place >= 0 &&
           sw_roster.at[place].said.self.virtual_node ==
               sw_roster.at[sw_roster.place].said.self.virtual_node;
}

/* Counts the ranks there, this one among them. */
int sw_roster_near_ranks(void);

/* Where the members of a communicator are, by their ranks in MPI_COMM_WORLD:
 * alike on all of them, without communication. */
typedef enum {
    SW_ROSTER_UNKNOWN, /* the members have to find out by themselves */
    SW_ROSTER_FOREIGN, /* one has no rank in MPI_COMM_WORLD */
    SW_ROSTER_APART,   /* not all of them are on this node */
    SW_ROSTER_MET,     /* all reach each other */
} sw_roster_meeting_t;
sw_roster_meeting_t sw_roster_meeting(const sw_members_t *members);

/* The introductions and peers of members that have met. Returns the SW_AGREE_*
 * bits that hold among them. */
uint32_t sw_roster_introduce(const sw_members_t *members,
                             sw_introduction_t *all, sw_peer_t **peer);

/* The machine's mark, alike on all of MPI's nodes that it holds (containers).
 */
uint32_t sw_roster_machine(void);
/* Count the job's ranks on this machine, where there are several nodes: all
 * ranks of MPI_COMM_WORLD call it. */
void sw_roster_meet_machine(void);

/* Ask the launcher and the peers met so far how crowded the cores are. */
void sw_roster_measure_crowd(void);
/* The same, now that so many ranks and nodes were found to be on this machine,
 * which may hold several (containers). Returns true where it has more nodes
 * than cores. */
bool sw_roster_crowd_machine(int ranks, int nodes);

#endif
