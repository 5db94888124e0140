/*
 * serve.c - see serve.h.
 */
#include "serve.h"

#include "near.h"
#include "node/base/settings.h"
#include "offload/list.h"
#include "posted.h"
#include "topology/machine.h"

bool sw_served;
_Atomic uint64_t sw_attendance;
static _Atomic int64_t fetched;

/* What the agent does. */
static sw_agent_found_t serve(void)
{
    static uint64_t attended;
    if (!sw_owing())
        return SW_AGENT_NOTHING;
    uint64_t now = atomic_load_explicit(&sw_attendance, memory_order_relaxed);
    bool busy = now != attended;
    attended = now;
    if (busy || !sw_posted_any() || !sw_tracks_try())
        return SW_AGENT_WATCHING;
    sw_receive_t *r = sw_posted_next(sw_receive_turn(), true);
    sw_tracks_leave();
    if (!r)
        return SW_AGENT_WATCHING;
    sw_receive_take_early(r);
    atomic_fetch_add_explicit(&fetched, r->early, memory_order_relaxed);
    sw_track_let_go(&r->track);
    return SW_AGENT_WORKED;
}

/* Where all messages are ours to match, the host has no posted receives for the
 * agent to look at. Then the agent need not share the tracks. */
static bool fetches(void)
{
    return sw_settings.agent == true || !sw_near_on ||
           sw_world.places < sw_world.ranks;
}

void sw_serve_start(void)
{
    bool wanted = sw_settings.agent == SW_AUTO
        ? sw_agent_fits(sw_peer_crowd(), sw_machine_core_threads())
        : sw_settings.agent;
    if (!wanted)
        return;
    if (fetches())
        sw_tracks_shared = sw_ledger_shared = sw_served = true;
    sw_lists_shared = true;
    if (sw_agent_start(sw_served ? serve : NULL, true))
        return;
    sw_say("no thread for the agent (%m): large messages are fetched inside "
           "MPI calls only");
    sw_serve_stop();
}

void sw_serve_stop(void)
{
    sw_agent_stop();
    sw_served = false;
    sw_tracks_shared = sw_ledger_shared = sw_threaded;
}

int64_t sw_serve_count(void)
{
    return atomic_load(&fetched);
}
