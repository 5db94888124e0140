/*
 * progress.c - serving receives that nobody asks for just now; see track.h.
 *
 * Copies are made without the lock: the thread that makes one holds the track.
 */
#include "track.h"

#include "call.h"
#include "serve.h"

static bool open(const sw_track_t *t)
{
    return !t->taken && !t->early && !t->done && !t->ended && !t->cancelled &&
           sw_landing_room(&t->in) >= SW_DESCRIPTOR_BYTES;
}

/* Its check will tell whether the descriptor is all there. */
bool sw_track_shows(const sw_track_t *t)
{
    return open(t) && sw_landing_shows(&t->in) &&
           sw_descriptor_begins(t->in.buffer, &sw_link_cookie);
}

/* May a descriptor have arrived for it? */
static bool may_have_arrived(const sw_track_t *t)
{
    return sw_landing_shows(&t->in) ? sw_track_shows(t) : open(t);
}

void sw_track_take_early(sw_track_t *t)
{
    t->early = sw_fetch_early(t->in.buffer, sw_landing_room(&t->in),
                              t->head, &t->bytes, &t->error);
}

static void look(sw_track_t *t)
{
    if (sw_landing_shows(&t->in) && sw_threaded)
        sw_track_take_early(t);     /* another thread may be in the host */
    else if (sw_landing_shows(&t->in))
        sw_track_take(t);
    else if (sw_track_ask(t))
        sw_track_peek(t, &t->status);
}

/* A receive whose request the program has freed: has it ended? */
static bool finish_freed(sw_track_t *t)
{
    MPI_Request handle = t->handle;
    MPI_Status status;
    int done = 0;
    if (t->pair && !sw_track_ask(t))
        return false;
    host.Test(&handle, &done, &status);
    if (!done)
        return false;
    if (handle != MPI_REQUEST_NULL)     /* persistent: now inactive */
        host.Request_free(&handle);
    t->persistent = false;
    sw_track_finish(t, &status);
    return true;
}

/* The next active track, from `t` on, that needs us; held by us then. The lock
 * is held. */
static sw_track_t *needing(sw_track_t *t)
{
    for (; t != &sw_active; t = t->after) {
        if (t->held)
            continue;
        if (t->receive ? t->freed || may_have_arrived(t)
                       : t->slot && !sw_slot_released(t->slot)) {
            t->held = true;
            return t;
        }
    }
    return NULL;
}

/* Fetch what has arrived, whatever this thread waits for. */
void sw_track_progress(void)
{
    static __thread bool inside __attribute__((tls_model("initial-exec")));
    if (!sw_any_tracks() || inside)
        return;
    sw_serve_attended();
    inside = true;
    sw_tracks_enter();
    sw_track_t *t = needing(sw_active.after);
    sw_tracks_leave();
    while (t) {
        if (t->receive && t->freed) {
            if (finish_freed(t))
                break;      /* it is no longer in the list: the next time */
        } else if (t->receive) {
            look(t);
        } else {
            sw_track_ready(t);
        }
        sw_tracks_enter();
        t->held = false;
        t = needing(t->after);
        sw_tracks_leave();
    }
    inside = false;
}

static bool could_get(const sw_track_t *t, MPI_Comm comm, int source, int tag)
{
    return t->receive && !t->taken && !t->early && !t->cancelled &&
           t->comm == comm &&
           (t->rank == source || t->rank == MPI_ANY_SOURCE) &&
           (t->tag == tag || t->tag == MPI_ANY_TAG);
}

bool sw_track_expected(MPI_Comm comm, int source, int tag)
{
    bool open = false;
    sw_notes_track();
    sw_tracks_enter();
    for (sw_track_t *t = sw_active.after; t != &sw_active; t = t->after) {
        if (!could_get(t, comm, source, tag))
            continue;
        if (t->held) {
            open = true;
            continue;
        }
        t->held = true;
        sw_tracks_leave();
        bool done = sw_track_ask(t);
        if (done)
            sw_track_peek(t, &t->status);
        open = open || !done;
        sw_tracks_enter();
        t->held = false;
    }
    sw_tracks_leave();
    return open;
}
