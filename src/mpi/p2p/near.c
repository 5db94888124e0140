/*
 * near.c - see near.h.
 */
#include "near.h"

#include "either.h"
#include "near_pieces.h"
#include "near_receive.h"
#include "near_send.h"
#include "mpi/base/away.h"
#include "node/base/settings.h"
#include "offload/agent.h"

#include <stdlib.h>

bool sw_near_on, sw_near_there, *sw_near_at;
int sw_near_tag_max, sw_near_spins;

/* Away --------------------------------------------------------------------- */

/* What the helper does while this process's threads may be in the host. It
 * calls no device's driver (near_device.h). */
static sw_agent_found_t help(void)
{
    if (!sw_near_on || !(sw_threaded || sw_shadow_match_shared))
        return SW_AGENT_NOTHING;
    if (!sw_shadow_match_try())
        return SW_AGENT_WATCHING;
    bool owes = sw_matcher_posted() || sw_near_sends_any();
    if (owes && (sw_threaded || sw_shadow_match_shared)) {
        sw_either_helps(true);
        sw_matcher_turn(true);
        sw_near_sends_turn();
        sw_either_helps(false);
    }
    sw_shadow_match_give_back();
    return owes ? SW_AGENT_WATCHING : SW_AGENT_NOTHING;
}

/* This thread sees its own word. The helper looks at the word again when it has
 * the lock, and this thread takes the lock to change it back. */
static bool away(bool goes)
{
    if (!goes) {
        sw_shadow_match_enter();
        sw_shadow_match_shared = false;
        sw_shadow_match_give_back();
        return true;
    }
    if (!sw_near_on || sw_shadow_match_shared ||
        (!sw_matcher_posted() && !sw_near_sends_any()))
        return false;
    sw_shadow_match_shared = !sw_threaded;
    sw_scheduled_watch();
    sw_agent_wake();
    return sw_shadow_match_shared;
}

/* Starting ----------------------------------------------------------------- */

/* A turn costs more than a look at one line. */
#define SPINS_CROWDED 2

/* What a rank reaches of the others stands in the roster, alike on all. */
static bool is_able(int place)
{
    const sw_place_t *p = &sw_roster.at[place];
    return p->said.mailbox && p->said.self.helper &&
           p->reaches_all & SW_AGREE_ARENA && sw_roster_is_near(p->said.rank);
}

/* False: this rank is near no other. */
static bool find_near(void)
{
    int near = 0;
    sw_near_at = calloc((size_t)sw_roster.places, sizeof *sw_near_at);
    if (!sw_near_at) {
        sw_say("out of memory in MPI_Init");
        abort();
    }
    for (int i = 0; i < sw_roster.places; i++)
        near += sw_near_at[i] = is_able(i);
    return near > 1 && sw_near_at[sw_roster.place];
}

bool sw_near_start(void)
{
    void *most;
    int set = 0;
    if (sw_roster.places < 2 || !sw_roster.at || !find_near())
        return false;
    for (int i = 0; i < sw_roster.places; i++)
        if (sw_near_at[i] && i != sw_roster.place)
            sw_mailbox_meet(i, sw_roster.at[i].peer,
                            sw_roster.at[i].said.mailbox);
    host.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &set);
    sw_near_tag_max = set ? *(int *)most : 32767;
    sw_near_spins = sw_wait_crowded() ? SPINS_CROWDED : sw_wait_spins;
    sw_matcher_meet = sw_near_meet;
    sw_near_pieces_start();
    sw_near_sends_start();
    sw_either_start();
    sw_agent_add(help);
    sw_away = away;
    return sw_near_on = sw_near_there = true;
}

bool sw_near_is_still(void)
{
    return !sw_near_there || (!sw_matcher_posted() && !sw_near_sends_any());
}

void sw_near_stop(void)
{
    sw_near_on = sw_near_there = false;
}

bool sw_near_decide(sw_comm_t *c)
{
    int near = 0;
    if (c->context_id && c->n > 1 && c->reason != SW_REASON_INTER &&
        c->reason != SW_REASON_FOREIGN && sw_comm_members(c) && c->members->all)
        for (int i = 0; i < c->n; i++)
            near += sw_near_is(c, i);
    c->near = near == c->n ? SW_NEAR_ALL : near > 1 ? SW_NEAR_SOME : SW_NEAR_NO;
    return c->near > 0;
}

bool sw_near_turn(bool all)
{
    bool shared = sw_threaded || sw_shadow_match_shared;
    if (shared && !sw_shadow_match_try())
        return false;
    bool came = sw_matcher_turn(all);
    sw_near_sends_turn();
    sw_near_sends_dispose();
    if (shared)
        sw_shadow_match_give_back();
    if (shared && came) /* another thread may sleep for it */
        sw_doorbell_ring(sw_mailbox_doorbell);
    return came;
}

void sw_near_serve(int by)
{
    atomic_fetch_add(&sw_shadows, by);
    atomic_fetch_add(&sw_owed, by);
}

void sw_near_progress(void)
{
    sw_near_turn(true);
}

static bool is_set(const _Atomic bool *flag)
{
    return atomic_load_explicit((_Atomic bool *)(uintptr_t)flag,
                                memory_order_acquire);
}

void sw_near_await(const _Atomic bool *flag)
{
    int left = sw_near_spins;
    while (!is_set(flag) && left-- > 0)
        if (sw_near_turn(false))
            left = sw_near_spins;
    if (is_set(flag))
        return;
    sw_wait_t wait = {.doorbell = sw_mailbox_doorbell};
    while (!is_set(flag)) {
        sw_wait_step(&wait);
        sw_near_turn(true);
    }
    sw_wait_end(&wait);
}
