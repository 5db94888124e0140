/*
 * team.c - see team.h.
 */
#include "team.h"

#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

/* A member's staging holds 128 KiB, less for many members so that a sequence's
 * staging stays within 8 MiB. A quarter of it is the largest payload: that
 * always finds room, and lets a sender run ahead. A table of extents must fit
 * too. */
size_t sw_team_stage_max(int n)
{
    size_t most = 32768;
    while (most > 8192 && 4 * most * (size_t)n > (8u << 20))
        most /= 2;
    return sw_max(most, sw_round_up(16 * (size_t)n + SW_LINE, SW_PAGE));
}

bool sw_team_introduce(sw_introduction_t *to, int virtual_node)
{
    memset(to, 0, sizeof *to);
    to->version = SW_TEAM_VERSION;
    to->virtual_node = virtual_node;
    to->eager = sw_settings.eager_max;
    to->slice = sw_settings.slice_min;
    sw_location_self(&to->where);
    return sw_peer_card(&to->card);
}

static void set_limits(sw_team_t *team, const sw_introduction_t *leader)
{
    team->stage_max = sw_team_stage_max(team->n);
    /* A sender that waits for its readers makes them work for it: where ranks
     * take turns on a core, that costs a turn. */
    team->eager = team->eager_all = team->stage_max;
    if (!team->crowded) {
        team->eager = sw_min(leader->eager, team->stage_max);
        team->eager_all = team->eager / 8;
    }
    team->slice = sw_min(leader->slice, team->stage_max + 1);
}

static bool plant(sw_team_t *team, const sw_introduction_t *all)
{
    if (team->n <= SW_FLAT)
        return true;
    sw_location_t *where = malloc((size_t)team->n * sizeof *where);
    team->tree = malloc(sw_tree_bytes(team->n));
    team->ordered = malloc(sw_tree_bytes(team->n));
    bool ok = where && team->tree && team->ordered;
    if (ok) {
        for (int i = 0; i < team->n; i++)
            where[i] = all[i].where;
        sw_tree_build(where, team->n, SW_FANOUT, team->tree);
        sw_tree_build_ordered(team->n, SW_FANOUT, team->ordered);
    }
    free(where);
    return ok;
}

sw_team_t *sw_team_make(const sw_introduction_t *all, int n, int me,
                        sw_peer_t **peer, bool arena, bool cma, bool crowded)
{
    sw_team_t *team = calloc(1, sizeof *team);
    if (team) {
        team->n = n;
        team->me = me;
        team->arena = arena;
        team->cma = cma;
        team->crowded = crowded;
        team->helped = true;
        for (int i = 0; i < n; i++)
            team->helped = team->helped && all[i].helper;
        team->peer = peer;
        atomic_init(&team->holds, 1);
        set_limits(team, &all[0]);
    }
    if (!team || !plant(team, all)) {
        sw_say("out of memory while setting a communicator up");
        abort();
    }
    return team;
}

void sw_team_drop(sw_team_t *team)
{
    if (atomic_fetch_sub(&team->holds, 1) != 1)
        return;
    free(team->peer);
    free(team->tree);
    free(team->ordered);
    free(team);
}
