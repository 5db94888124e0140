/*
 * serve.c - see serve.h.
 */
#include "serve.h"

#include "call.h"
#include "track.h"
#include "../topology/machine.h"

/* So many receives are looked at under the lock. */
#define LOOKED 64

bool sw_served;
_Atomic uint64_t sw_attendance;
static _Atomic int64_t fetched;

/* Of the receives that are owed to others, from the `skip`th on: one that
 * shows a descriptor, held then. Sets *skip to where to go on, 0: from the
 * beginning. The lock is held. */
static sw_track_t *arrived(unsigned *skip)
{
    unsigned n = 0;
    for (sw_track_t *t = sw_active.after; t != &sw_active; t = t->after) {
        if (!t->receive || t->held || !sw_track_owes(t) || n++ < *skip)
            continue;
        if (sw_track_shows(t)) {
            t->held = true;
            return t;
        }
        if (n == *skip + LOOKED) {
            *skip = n;
            return NULL;
        }
    }
    *skip = 0;
    return NULL;
}

/* What the agent does. */
static sw_agent_found_t serve(void)
{
    static uint64_t attended;
    static unsigned skip;
    if (!sw_owing())
        return SW_AGENT_NOTHING;
    uint64_t now = atomic_load_explicit(&sw_attendance, memory_order_relaxed);
    bool busy = now != attended;
    attended = now;
    if (busy || !sw_tracks_try())
        return SW_AGENT_WATCHING;
    sw_track_t *t = arrived(&skip);
    sw_tracks_leave();
    if (!t)
        return SW_AGENT_WATCHING;
    sw_track_take_early(t);
    atomic_fetch_add_explicit(&fetched, t->early, memory_order_relaxed);
    sw_track_let_go(t);
    return SW_AGENT_WORKED;
}

void sw_serve_start(void)
{
    bool wanted = sw_settings.agent > 0 ||
                  (sw_settings.agent < 0 &&
                   sw_agent_fits(sw_peer_crowd(),
                                 sw_machine_core_threads()));
    if (!wanted)
        return;
    sw_tracks_shared = sw_served = true;
    if (sw_agent_start(serve))
        return;
    sw_say("no thread for the agent (%m): large messages are fetched inside "
           "MPI calls only");
    sw_serve_stop();
}

void sw_serve_stop(void)
{
    sw_agent_stop();
    sw_served = false;
    sw_tracks_shared = sw_threaded;
}

int64_t sw_serve_count(void)
{
    return atomic_load(&fetched);
}
