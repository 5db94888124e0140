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

/* A message may lie aside that its receiver has not fetched. When everybody
 * has come here, all are fetched. A rank without links comes, too: others on the
 * node may have some (virtual nodes). */
void sw_messages_stop(void)
{
    SW_INSIDE;
    if (sw_world.comm == MPI_COMM_NULL)
        return;
    if (sw_world.places > 1 && host.Ibarrier) {
        MPI_Request request;
        int all_here = 0;
        int rc = host.Ibarrier(sw_world.comm, &request);
        while (!all_here && rc == MPI_SUCCESS) {
            rc = host.Test(&request, &all_here, MPI_STATUS_IGNORE);
            sw_track_progress();
            if (!all_here)
                sw_os_yield();
        }
        for (int left = atomic_load(&sw_tracks); left > 0; left--)
            sw_track_progress();
    }
    sw_serve_stop();
    sw_control_messages = NULL;
    sw_linked = false;
    sw_near_stop();
}
