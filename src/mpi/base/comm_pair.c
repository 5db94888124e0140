/*
 * comm_pair.c - see comm_pair.h.
 */
#include "comm_pair.h"

#include "link.h"
#include "node/base/settings.h"

#include <stdlib.h>

static void out_of_memory(void)
{
    sw_say("out of memory for a partitioned message");
    abort();                    /* the other member counts it */
}

/* Which one from or to a member this is, with this tag. */
static uint64_t counted(sw_comm_t *c, bool sends, int other, int tag)
{
    uint64_t count = sw_tally_next(&c->pairs, sends, other, tag);
    if (!count)
        out_of_memory();
    return count;
}

/* As comm_slates.c demands it of the members of a communicator. */
static bool is_helped(int rank)
{
    return sw_world.at[sw_world_place(rank)].said.self.helper;
}

static sw_team_t *team_of(int sender, int receiver, int me)
{
    const sw_place_t *at[] = {&sw_world.at[sw_world_place(sender)],
                              &sw_world.at[sw_world_place(receiver)]};
    sw_introduction_t all[] = {at[0]->said.self, at[1]->said.self};
    sw_peer_t **peer = malloc(2 * sizeof *peer);
    if (!peer)
        out_of_memory();
    peer[0] = at[0]->peer;
    peer[1] = at[1]->peer;
    return sw_team_make(all, 2, me, peer, true, false, false);
}

bool sw_comm_pair(sw_comm_t *c, int sender, int receiver, int tag,
                  sw_comm_pair_t *to)
{
    int other = c->me == sender ? receiver : sender;
    if (other == c->me || !c->context_id || atomic_load(&sw_comms_closing) ||
        !sw_link(c, other) || !is_helped(c->members->rank[c->me]) ||
        !is_helped(c->members->rank[other]))
        return false;
    uint64_t name = sw_mixed(c->context_id,
                             counted(c, c->me == sender, other, tag));
    name = sw_mixed(name, (uint64_t)(uint32_t)sender << 32 | (uint32_t)receiver);
    *to = (sw_comm_pair_t){
        .team = team_of(c->members->rank[sender], c->members->rank[receiver],
                        c->me == receiver),
        .name = sw_mixed(name, (uint32_t)tag)};
    return true;
}
