/*
 * agreement.h - how the members of a communicator decide, all alike, whether
 * they form a team (team.h), and meet in its first sequence (sequence.h).
 *
 *   every member   introduces itself          sw_team_introduce
 *                  attaches all the others     sw_agreement_answer
 *                  opens the sequence, or none     sw_agreement_open
 *
 * The caller exchanges introductions, then answers, through the host. Every
 * member then holds the same answers and takes the same decision.
 */
#ifndef SW_COLL_AGREEMENT_H
#define SW_COLL_AGREEMENT_H

#include "sequence.h"

enum {
    SW_AGREE_NODE = 1,
    SW_AGREE_ARENA = 2,
    SW_AGREE_CMA = 4,
    SW_AGREE_BLOCK = 8
};

/* What a member answers. */
typedef struct {
    uint64_t offset;  /* leader: the first sequence's; others: 0 */
    uint64_t name;    /* leader: drawn, for the caller */
    uint32_t ok;      /* SW_AGREE_* bits */
    uint32_t crowded; /* leader: more ranks than cores */
} sw_agreement_t;

/* Attaches the members that introduced themselves. Fills `peer` (n pointers)
 * and the answer. The leader, member 0, also takes a block for a sequence. */
SW_API void sw_agreement_answer(const sw_introduction_t *all, int n, int me,
                                sw_peer_t **peer, sw_agreement_t *to);

/* Opens the first sequence of a new team, which the sequence holds. Returns
 * NULL with *why (static text) set where the answers leave the communicator to
 * the host. Owns `peer` (malloced) only where it succeeds. */
SW_API sw_sequence_t *sw_agreement_open(const sw_introduction_t *all,
                                        const sw_agreement_t *answers, int n,
                                        int me, sw_peer_t **peer,
                                        const char **why);
/* The `why` of a full pool, which callers report apart from the others. */
SW_API extern const char *const sw_agreement_full;

#endif
