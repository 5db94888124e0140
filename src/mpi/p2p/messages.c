/*
 * messages.c - see messages.h.
 */
#include "messages.h"

#include "mpi/base/guard.h"
#include "node/control.h"
#include "near_receive.h"
#include "near_send.h"
#include "posted.h"
#include "sends.h"
#include "serve.h"
#include "threshold.h"

/* Nanoseconds between two looks whether a rank is still there. */
#define ASK 10000000

static void take_way(int state)
{
    sw_linked = state != SW_ACCELERATE_ALONE;
    sw_near_on = sw_near_there && sw_linked;
    sw_threshold_force(state);
}

void sw_messages_start(bool linked)
{
    SW_INSIDE;
    sw_tracks_shared = sw_threaded;
    if (!linked)
        return;
    sw_threshold_start();
    sw_posted_start(sw_world.places);
    sw_note_owner = &sw_receive_notes;
    sw_track_kind_add(&sw_receive_kind);
    sw_track_kind_add(&sw_send_kind);
    sw_linked = true;
    if (sw_near_start()) {
        sw_track_kind_add(&sw_near_irecv_kind);
        sw_track_kind_add(&sw_near_isend_kind);
    }
    sw_serve_start();
    sw_control_messages = take_way;
}

/* Has the rank at a place of this node ended? */
static bool gone(int place)
{
    const sw_peer_t *peer = sw_world.at[place].peer;
    return peer && !peer->self && sw_peer_gone(peer);
}

/* Looks at one place after another. A program may have aborted a communicator
 * of some ranks, and have an MPI that lets the others finish (MPICH). */
static bool somebody_gone(void)
{
    static uint64_t asked;
    static int place;
    uint64_t now = sw_os_now();
    if (!sw_world.at || now - asked < ASK)
        return false;
    asked = now;
    place = (place + 1) % sw_world.places;
    return gone(place);
}

/* A message may lie aside that its receiver has not fetched. When everybody
 * has come here, all are fetched. A rank without links comes, too: others on
 * the node may have some (virtual nodes). Where a rank has ended, the others wait
 * only for what they have sent to those that are there. */
void sw_messages_stop(void)
{
    SW_INSIDE;
    if (sw_world.comm == MPI_COMM_NULL)
        return;
    if (sw_world.places > 1 && host.Ibarrier) {
        MPI_Request request;
        int all_here = 0;
        bool fewer = false;
        int rc = host.Ibarrier(sw_world.comm, &request);
        while (!all_here && rc == MPI_SUCCESS &&
               !(fewer && sw_slots_quiet(gone) && sw_sends_quiet(gone))) {
            rc = host.Test(&request, &all_here, MPI_STATUS_IGNORE);
            sw_track_progress();
            fewer = fewer || (!all_here && somebody_gone());
            if (!all_here)
                sw_os_yield();
        }
        /* Hosts may not free a communicator with an operation under way. */
        if (!all_here && rc == MPI_SUCCESS)
            sw_world.comm = MPI_COMM_NULL;
        for (int left = atomic_load(&sw_tracks); left > 0; left--)
            sw_track_progress();
    }
    sw_serve_stop();
    sw_control_messages = NULL;
    sw_linked = false;
    sw_near_stop();
}
