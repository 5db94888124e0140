/*
 * wait.c - MPI_Wait and MPI_Test, MPI_Request_free and MPI_Cancel.
 *
 * Of a receive the host is asked, and what it has completed is finished by us.
 * A send is waited for until the receiver has released its slot; the host,
 * which has long sent the descriptor, is asked then.
 */
#include "complete.h"

#include "mpi/base/raise.h"
#include "mpi/base/comm.h"
#include "doubt.h"

void sw_idle(sw_idle_t *idle)
{
    if (sw_wait_crowded() || ++idle->turns > 2000)
        sw_os_yield();
    else
        sw_os_pause();
}

/* The host has answered for a track, with rc. Its communicator is needed for
 * longer than the track. */
static int finish(sw_track_t *t, int rc, MPI_Status *status)
{
    sw_comm_t *c = t->comm;
    sw_comm_hold(c);
    int error = sw_track_finish(t, status);
    if (rc == MPI_SUCCESS)
        rc = sw_raise_pending(c, error);
    sw_comm_drop(c);
    return rc;
}

/* Ask for a tracked request, which is held; true: it is done, with *rc. */
static bool try(sw_track_t *t, bool may_block, MPI_Request *request,
                MPI_Status *status, int *rc)
{
    MPI_Request asked = *request;
    int flag = 1;
    if (!sw_track_ready(t)) {
        sw_link_poke();
        return false;
    }
    if (t->active && t->ended && !t->pair) {
        sw_status_empty(status);
        *rc = t->result;
    } else if (may_block) {
        *rc = host.Wait(&asked, status);
    } else {
        *rc = host.Test(&asked, &flag, status);
    }
    if (!flag && *rc == MPI_SUCCESS)
        return false;
    if (!t->active)
        return true;
    bool over = !t->persistent;
    *rc = finish(t, *rc, status);
    if (over)
        *request = MPI_REQUEST_NULL;
    return true;
}

/* One that is not tracked, while others may wait for us. */
static int wait_untracked(MPI_Request *request, MPI_Status *status)
{
    int flag = 0, rc;
    sw_idle_t idle = {0};
    while ((rc = host.Test(request, &flag, status)) == MPI_SUCCESS && !flag) {
        sw_track_progress();
        sw_idle(&idle);
    }
    return rc;
}

static int plain_wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    return sw_checked(sw_owing() ? wait_untracked(request, to)
                                 : host.Wait(request, to), 1, to);
}

static int plain_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    return sw_checked(host.Test(request, flag, to), 1, to);
}

static bool once(sw_track_t *t, bool may_block, MPI_Request *request,
                 MPI_Status *status, int *rc)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    bool stays = t->persistent || !t->active;
    sw_track_hold(t);
    bool over = try(t, may_block, request, to, rc);
    if (!over || stays)
        sw_track_let_go(t);
    return over;
}

/* The host has answered for the request of a note that was taken. */
static int end_note(const sw_note_t *note, int rc, MPI_Status *status)
{
    int error = sw_note_end(note, status);
    if (rc == MPI_SUCCESS)
        rc = sw_raise_pending(note->comm, error);
    sw_comm_drop(note->comm);
    return rc;
}

int sw_wait_one(MPI_Request *request, MPI_Status *status)
{
    if (sw_noted && !sw_owing()) {
        MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
        sw_note_t note;
        sw_note_take(*request, &note);
        if (note.in.type)
            return end_note(&note, host.Wait(request, to), to);
    }
    sw_track_t *t = sw_track_of(*request);
    if (!t)
        return plain_wait(request, status);
    bool stays = t->persistent;
    bool may_block = !sw_threaded && !sw_owing();
    int rc = MPI_SUCCESS;
    sw_idle_t idle = {0};
    sw_track_claim(t);
    while (!once(t, may_block, request, status, &rc)) {
        sw_track_progress();
        sw_idle(&idle);
    }
    if (stays)
        sw_track_unclaim(t);
    return rc;
}

int sw_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return sw_any_tracks() && request
        ? sw_wait_one(request, status)
        : plain_wait(request, status);
}

/* Programs poll for messages: straight through. */
static int test_note(const sw_note_t *note, MPI_Request *request, int *flag,
                     MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    int rc = host.Test(request, flag, to);
    if (rc != MPI_SUCCESS || *flag)
        return end_note(note, rc, to);
    sw_note_back(note);
    return rc;
}

static int test_receive(sw_track_t *t, MPI_Request *request, int *flag,
                        MPI_Status *status)
{
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    t->claimed = true;
    int rc = host.Test(request, flag, to);
    t->claimed = false;
    if (sw_likely(rc == MPI_SUCCESS && !*flag))
        return rc;
    return finish(t, rc, to);
}

int sw_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!sw_any_tracks() || !request)
        return plain_test(request, flag, status);
    if (sw_owing())
        sw_track_progress();
    sw_note_t note;
    sw_note_take(*request, &note);
    if (note.in.type)
        return test_note(&note, request, flag, status);
    sw_track_t *t = sw_track_of(*request);
    if (!t)
        return plain_test(request, flag, status);
    if (t->receive && t->active && !t->ended && !t->pair &&
        !sw_tracks_shared)
        return test_receive(t, request, flag, status);
    bool stays = t->persistent;
    int rc = MPI_SUCCESS;
    sw_track_claim(t);
    *flag = once(t, false, request, status, &rc);
    if (!*flag || stays)
        sw_track_unclaim(t);
    return rc;
}

int sw_MPI_Request_free(MPI_Request *request)
{
    sw_track_t *t = request ? sw_track_of(*request) : NULL;
    if (!t)
        return host.Request_free(request);
    sw_track_free(t);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int sw_MPI_Cancel(MPI_Request *request)
{
    sw_track_t *t = request ? sw_track_to_cancel(*request) : NULL;
    return t ? sw_track_cancel(t, request) : host.Cancel(request);
}
