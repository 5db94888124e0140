/*
 * regroup.h - a placement made better by groups of its vertices.
 *
 * A group has the vertices in a few neighbouring parts of the machine. A
 * bipartition (mapping/bipartition.h) divides them among these parts anew, and
 * swaps mend the borders. The result stays if it costs no more.
 *
 * This takes seconds. A program that makes a grid or a graph has no such time,
 * so the preloaded library does without (mapping/mapping.h).
 */
#ifndef SW_SOLVER_REGROUP_H
#define SW_SOLVER_REGROUP_H

#include "cut.h"

/* Improve at[v], the seat of vertex v. About `effort` links are looked at.
 * `cuts`: started for this web. */
void sw_regroup(const sw_web_t *web, const sw_seats_t *seats, int64_t effort,
                sw_cuts_t *cuts, int *at);

#endif
