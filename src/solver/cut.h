/*
 * cut.h - a graph in two halves of given sizes, with few messages between them:
 * the best of several tries.
 *
 * A half grows from a random vertex, or from one at the rim as far from it as
 * can be. Passes of Fiduccia and Mattheyses (A Linear-Time Heuristic for
 * Improving Network Partitions, 1982) then move vertices across the border: the
 * vertex that gains most, even if that is a loss, each once. The best state on
 * the way stays.
 */
#ifndef SW_SOLVER_CUT_H
#define SW_SOLVER_CUT_H

#include "mapping/bipartition.h"

/* The same numbers give the same cuts. */
typedef struct {
    int tries;
    uint64_t random;
    int *moved, *best;  /* [n] */
    bool *side;         /* [n] */
    sw_gains_t heap[2]; /* of each half */
} sw_cuts_t;

/* For webs with at most as many vertices and links as this one. */
void sw_cuts_start(const sw_web_t *most, sw_cuts_t *to);
void sw_cuts_free(sw_cuts_t *cuts);

/* A random number below n (a linear congruential generator of Knuth's). */
static inline int sw_cuts_draw(sw_cuts_t *cuts, int n)
{
    cuts->random = cuts->random * 6364136223846793005u + 1442695040888963407u;
    return (int)((cuts->random >> 33) % (uint64_t)n);
}

/* `context`: the sw_cuts_t. */
sw_cut_t sw_cut;

#endif
