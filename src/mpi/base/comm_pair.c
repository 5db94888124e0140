/*
 * comm_pair.c - see comm_pair.h.
 */
#include "comm_pair.h"

#include "node/base/settings.h"

#include <stdlib.h>

static void out_of_memory(void)
{
    sw_say("out of memory for a partitioned message");
    abort(); /* the other member counts it */
}

/* Which one from or to a member this is, with this tag. */
static uint64_t counted(sw_comm_t *c, bool sends, int other, int tag)
{
    uint64_t count = sw_tally_next(&c->pairs, sends, other, tag);
    if (!count)
        out_of_memory();
    return count;
}

/* Does a member take part? That it has a helper comm_slates.c demands of the
 * members of a communicator, too. */
static bool is_able(int place)
{
    const sw_hello_t *said = &sw_roster.at[place].said;
    return said->messages && said->self.helper;
}

bool sw_comm_is_pair(sw_comm_t *c, int other)
{
    if (!c->context_id || c->reason == SW_REASON_INTER ||
        c->reason == SW_REASON_FOREIGN || other < 0 || other >= c->n ||
        !sw_comm_members(c))
        return false;
    int place = sw_roster_place(c->members->rank[other]);
    const sw_place_t *p = place < 0 ? NULL : &sw_roster.at[place];
    return p && p->reach & p->reached & SW_AGREE_ARENA && is_able(place) &&
           is_able(sw_roster.place);
}

static sw_team_t *team_of(int sender, int receiver, int me)
{
    const sw_place_t *at[] = {&sw_roster.at[sw_roster_place(sender)],
                              &sw_roster.at[sw_roster_place(receiver)]};
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
    if (other == c->me || atomic_load(&sw_comms_closing) ||
        !sw_comm_is_pair(c, other))
        return false;
    uint64_t name = sw_members_mix(c->context_id,
                                   counted(c, c->me == sender, other, tag));
    name = sw_members_mix(name, (uint64_t)(uint32_t)sender << 32 |
                                    (uint32_t)receiver);
    *to = (sw_comm_pair_t){.team = team_of(c->members->rank[sender],
                                           c->members->rank[receiver],
                                           c->me == receiver),
                           .name = sw_members_mix(name, (uint32_t)tag)};
    return true;
}
