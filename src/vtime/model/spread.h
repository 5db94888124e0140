/*
 * spread.h - where the members of a communicator are: its shape, by which
 * rules over several nodes choose, and ranks that stand for it.
 */
#ifndef SW_VTIME_MODEL_SPREAD_H
#define SW_VTIME_MODEL_SPREAD_H

#include "model.h"

typedef struct {
    uint32_t nodes;     /* that have members */
    uint32_t most;      /* members on the fullest node */
    uint32_t inside[2]; /* its first and last member */
    /* the first member, and one of another node, if there is one */
    uint32_t across[2];
} sw_spread_t;

/* Of n >= 1 members, `members` of the world (NULL: its first n). Without
 * memory all is 0: the model's rules on places then fit nothing. */
void sw_spread_find(const sw_model_t *model, uint32_t n,
                    const uint32_t *members, sw_spread_t *spread);

#endif
