/*
 * messages.c - see messages.h.
 */
#include "messages.h"

#include "either.h"
#include "mpi/base/guard.h"
#include "mpi/base/progress.h"
#include "node/control.h"
#include "near_receive.h"
#include "near_send.h"
#include "offload/agent.h"
#include "offload/schedule.h"
#include "pair.h"
#include "node/base/settings.h"
#include "topology/machine.h"
#include "way.h"

/* Nanoseconds between two looks whether a rank is still there. */
#define ASK 10000000

static void take_way(int state)
{
    sw_near_on = sw_near_there && state != SW_ACCELERATE_OFF;
    sw_way_force(state);
}

/* The agent has a core of its own where that is asked for, or where every rank
 * has two. */
static void start_agent(void)
{
    bool wanted = sw_settings.agent == SW_AUTO
                      ? sw_agent_fits(sw_peer_crowd(),
                                      sw_machine_core_threads())
                      : sw_settings.agent;
    if (!wanted)
        return;
    sw_schedules_shared = true;
    if (!sw_agent_start(NULL, true))
        sw_say("no thread for the agent (%m): nonblocking collectives go on "
               "inside MPI calls only");
}

void sw_messages_start(void)
{
    SW_INSIDE;
    sw_shadows_shared = sw_threaded;
    sw_way_start();
    if (sw_near_start()) {
        sw_shadow_kind_add(&sw_near_irecv_kind);
        sw_wait_progress = sw_progress;
        sw_control_messages = take_way;
    }
    start_agent();
}

/* Has the rank at a place of this node ended? */
static bool gone(int place)
{
    const sw_peer_t *peer = sw_roster.at[place].peer;
    return peer && !peer->self && sw_peer_gone(peer);
}

/* Looks at one place after another. A program may have aborted a communicator
 * of some ranks, and have an MPI that lets the others finish (MPICH). */
static bool somebody_gone(void)
{
    static uint64_t asked;
    static int place;
    uint64_t now = sw_os_now();
    if (!sw_roster.at || now - asked < ASK)
        return false;
    asked = now;
    place = (place + 1) % sw_roster.places;
    return gone(place);
}

/* A message may lie aside that its receiver has not fetched. When all ranks
 * have come here, all messages are fetched. A rank that is near no other comes,
 * too: others on the node may be (virtual nodes). Where a rank has ended, the
 * others wait only for what they have sent to those that are there. */
void sw_messages_stop(void)
{
    SW_INSIDE;
    if (sw_roster.comm == MPI_COMM_NULL)
        return;
    if (sw_roster.places > 1 && host.Ibarrier) {
        MPI_Request request;
        int all_here = 0;
        bool fewer = false;
        int rc = host.Ibarrier(sw_roster.comm, &request);
        while (!all_here && rc == MPI_SUCCESS &&
               !(fewer && sw_slots_quiet(gone))) {
            rc = host.Test(&request, &all_here, MPI_STATUS_IGNORE);
            sw_shadow_progress();
            fewer = fewer || (!all_here && somebody_gone());
            if (!all_here)
                sw_os_yield();
        }
        /* Hosts may not free a communicator with an operation under way. */
        if (!all_here && rc == MPI_SUCCESS)
            sw_roster.comm = MPI_COMM_NULL;
        for (int left = atomic_load(&sw_shadows); left > 0; left--)
            sw_shadow_progress();
    }
    sw_agent_stop();
    sw_control_messages = NULL;
    sw_near_stop();
}
