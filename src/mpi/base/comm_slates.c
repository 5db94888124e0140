/*
 * comm_slates.c - where the members of a communicator carry out nonblocking
 * and persistent collectives: they meet there without a message.
 *
 * A nonblocking call may not wait, so its members cannot ask each other
 * anything. But those that met in MPI_Init know what they reach of each other,
 * and a communicator has one name on all its members. Under that name they find
 * the slates (offload/notices.h). Other members, and those of a communicator
 * without a name, have to meet at a blocking collective first.
 *
 * A blocking call of the host's keeps a member out of our calls. Only a helper
 * thread (offload/agent.h) works for it then, and the others wait for that
 * work. So the host serves where a member has no helper.
 *
 * A persistent collective's slates have the same name, mixed with the number of
 * those that were initialized before: the members initialize them in one order
 * (MPI 4.1, 6.13). They start them in any order.
 */
#include "comm.h"

#include "node/base/settings.h"
#include "progress.h"

#include <stdlib.h>

static sw_team_t *made_team(sw_comm_t *c)
{
    size_t n = (size_t)c->n;
    sw_introduction_t *all = calloc(n, sizeof *all);
    sw_peer_t **peer = malloc(n * sizeof *peer);
    if (!all || !peer) {
        sw_say("out of memory while setting a communicator up");
        abort();
    }
    uint32_t agreed = sw_roster_introduce(c->members, all, peer);
    sw_team_t *team = sw_team_make(all, c->n, c->me, peer,
                                   agreed & SW_AGREE_ARENA,
                                   agreed & SW_AGREE_CMA, false);
    free(all);
    return team;
}

static sw_team_t *team_of(sw_comm_t *c)
{
    if (!c->team)
        c->team = c->sequence ? sw_team_hold(c->sequence->team) : made_team(c);
    sw_wait_progress = sw_progress;
    return c->team;
}

static uint64_t name_of(const sw_comm_t *c)
{
    uint64_t name = c->context_id ? c->context_id : c->name;
    return name * 0x9e3779b97f4a7c15u ^ c->members->hash;
}

/* Has each member a thread that works for it, while a blocking call of the
 * host's keeps it? They have told each other at the start. */
static bool is_helped(const sw_comm_t *c)
{
    if (c->sequence)
        return c->sequence->team->helped;
    for (int i = 0; i < c->n; i++) {
        int place = sw_roster_place(c->members->rank[i]);
        if (!sw_roster.at[place].said.self.helper)
            return false;
    }
    return true;
}

sw_reason_t sw_comm_why_no_slates(const sw_comm_t *c)
{
    if (!c->sequence && c->settled)
        return c->reason;
    if (atomic_load(&sw_comms_closing))
        return SW_REASON_ENDS;
    if (!c->members || (!c->context_id && !c->name) ||
        (!c->sequence && sw_roster_meeting(c->members) != SW_ROSTER_MET))
        return SW_REASON_UNMET;
    if (c->sequence && !c->sequence->team->arena)
        return SW_REASON_APART;
    return is_helped(c) ? SW_OURS : SW_REASON_HELPER;
}

sw_slates_t *sw_comm_slates_first(sw_comm_t *c)
{
    return c->slates = sw_slates_open(team_of(c), name_of(c), 0);
}

/* Few members may run ahead of each other; many save memory. */
static unsigned depth_of(int n)
{
    return n <= 16 ? 8 : 2;
}

void sw_comm_apart(sw_comm_t *c, sw_comm_apart_t *a)
{
    uint64_t x = name_of(c) + ++c->persistent * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 30) * 0x94d049bb133111ebu;
    *a = (sw_comm_apart_t){.team = sw_team_hold(team_of(c)),
                           .name = x ^ x >> 31};
}

sw_slates_t *sw_comm_apart_slates(sw_comm_apart_t *a)
{
    if (sw_unlikely(!a->slates))
        a->slates = sw_slates_open(a->team, a->name, depth_of(a->team->n));
    return a->slates;
}

void sw_comm_apart_end(sw_comm_apart_t *a)
{
    if (a->slates)
        sw_slates_close(a->slates);
    sw_team_drop(a->team);
}
