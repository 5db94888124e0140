/*
 * spread.c - see spread.h. The engine asks once for each kind of call of a
 * communicator, so a count for each node of the model is cheap enough.
 */
#include "spread.h"

#include <stdlib.h>

static uint32_t member(const uint32_t *members, uint32_t i)
{
    return members ? members[i] : i;
}

/* Counts the members of each node; returns the fullest node. */
static uint32_t count(const sw_model_t *model, uint32_t n,
                      const uint32_t *members, uint32_t *here,
                      sw_spread_t *spread)
{
    uint32_t fullest = 0, first = sw_model_node(model, member(members, 0));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = member(members, i), node = sw_model_node(model, rank);
        spread->nodes += !here[node];
        if (++here[node] > spread->most) {
            spread->most = here[node];
            fullest = node;
        }
        if (node != first)
            spread->across[1] = rank;
    }
    return fullest;
}

void sw_spread_find(const sw_model_t *model, uint32_t n,
                    const uint32_t *members, sw_spread_t *spread)
{
    *spread = (sw_spread_t){0};
    uint32_t *here = calloc(sw_model_nodes(model), sizeof *here);
    if (!here)
        return;
    spread->across[0] = spread->across[1] = member(members, 0);
    uint32_t fullest = count(model, n, members, here, spread);
    uint32_t left = here[fullest];
    for (uint32_t i = 0; i < n && left; i++) {
        uint32_t rank = member(members, i);
        if (sw_model_node(model, rank) != fullest)
            continue;
        spread->inside[left-- != here[fullest]] = rank;
    }
    if (spread->most == 1)
        spread->inside[1] = spread->inside[0];
    free(here);
}
