/*
 * gate.h - the member of each node that stands at the lane of a rooted
 * collective, and what goes between it and the root.
 */
#ifndef SW_MPI_SPAN_GATE_H
#define SW_MPI_SPAN_GATE_H

#include "await.h"

typedef struct {
    int home;     /* the root's node */
    int root;     /* the root's number there */
    int gate;     /* the gate's number, on every node */
    bool is_home; /* this member is on the root's node */
    bool is_gate, is_root;
} sw_gate_t;

static inline sw_gate_t sw_gate(const sw_span_t *s, int root)
{
    sw_gate_t g = {.home = s->node_of[root], .root = s->number_of[root]};
    g.gate = g.root < s->lanes ? g.root : 0;
    g.is_home = s->node == g.home;
    g.is_gate = s->mine == g.gate;
    g.is_root = s->me == root;
    return g;
}

/* On the root's node: bytes go from one member to another. Only these two know
 * how many there are. */
int sw_gate_hand(sw_span_t *s, int from, int to, const void *data, void *recv,
                 size_t bytes);

#endif
