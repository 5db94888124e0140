/*
 * context.c - communicators as the engine knows them.
 *
 * A communicator is told to the engine before the first operation that names
 * it: its members in order, and its `id`, which is alike on all of them
 * (known_comm.h). Of two groups' communicator the members are those of both,
 * of the group with the lowest rank first.
 */
#include "virtual.h"

#include <stdlib.h>
#include <string.h>

#define ASIDE 0x9e3779b97f4a7c15u
#define BESIDE 0xd6e8feb86659fd93u

static uint32_t contexts = 1; /* 0 is the world */

static bool tell(sw_known_comm_t *c, uint32_t number, uint64_t id)
{
    uint32_t n = (uint32_t)c->n, them = c->inter ? (uint32_t)c->targets : 0;
    uint32_t *members = malloc((n + them) * sizeof *members);
    const int *own = c->own->rank;
    if (members && c->inter) {
        int us_first = own[0], them_first = c->world[0];
        for (uint32_t i = 0; i < n; i++)
            us_first = own[i] < us_first ? own[i] : us_first;
        for (uint32_t i = 0; i < them; i++)
            them_first = c->world[i] < them_first ? c->world[i] : them_first;
        c->second = us_first >= them_first;
        memcpy(members + (c->second ? 0 : n), c->world, them * sizeof *members);
    }
    if (members)
        memcpy(members + (c->second ? them : 0), own, n * sizeof *members);
    if (members && number)
        sw_virtual_context(number, id, n + them, members);
    bool told = members;
    free(members);
    return told;
}

sw_known_comm_t *sw_virtual_comm(MPI_Comm comm)
{
    sw_known_comm_t *c = sw_known_comm_meet(comm);
    if (sw_likely(c && c->context >= 0))
        return c;
    if (!c || !c->id)
        return NULL;
    sw_virtual_lock();
    if (c->context < 0) {
        int64_t number = comm == MPI_COMM_WORLD ? 0 : (int64_t)contexts++;
        if (tell(c, (uint32_t)number, c->id))
            c->context = number;
    }
    sw_virtual_unlock();
    return c->context >= 0 ? c : NULL;
}

uint32_t sw_virtual_beside(sw_known_comm_t *c, uint64_t nth)
{
    uint32_t number = contexts++;
    tell(c, number, sw_board_key(c->id ^ BESIDE, nth));
    return number;
}

uint32_t sw_virtual_aside(sw_known_comm_t *c)
{
    if (c->aside < 0) {
        int64_t number = (int64_t)contexts++;
        tell(c, (uint32_t)number, c->id ^ ASIDE);
        c->aside = number;
    }
    return (uint32_t)c->aside;
}

int sw_virtual_member(const sw_known_comm_t *c, int32_t rank)
{
    if (rank >= 0 && rank < c->targets && c->world[rank] == rank)
        return rank;
    for (int i = 0; i < c->targets; i++)
        if (c->world[i] == rank)
            return i;
    return -1;
}
