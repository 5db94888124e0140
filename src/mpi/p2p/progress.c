/*
 * progress.c - serving requests that nobody asks for just now; see track.h.
 *
 * Copies are made without the lock: the thread that makes one holds the track.
 * posted.h finds the receives to look at. Of the sends, and of the receives
 * that the program has freed, a few get their turn each time.
 */
#include "track.h"

#include "mpi/base/comm.h"
#include "posted.h"
#include "serve.h"

void sw_track_take_early(sw_track_t *t)
{
    t->early = sw_fetch_early(t->in.buffer, sw_recv_buffer_room(&t->in),
                              t->head, &t->bytes, &t->error);
}

static void look(sw_track_t *t)
{
    if (sw_recv_buffer_shows(&t->in) && sw_threaded)
        sw_track_take_early(t);     /* another thread may be in the host */
    else if (sw_recv_buffer_shows(&t->in))
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

/* So many sends are looked at in a turn, and so many receives at most
 * served. */
#define SENDS_LOOKED 8
#define SERVED 8

/* A send that needs us, held then: to help its receiver, or to see how long
 * nobody has come. */
static sw_track_t *send_next(void)
{
    sw_track_t *found = NULL;
    for (int i = 0; i < SENDS_LOOKED && sw_sends; i++) {
        sw_track_t *t = sw_sends;
        if (t->held || t == found) {
            sw_sends = t->after;
            continue;
        }
        if (sw_slot_released(t->slot)) {
            sw_tracks_remove(t);
            continue;
        }
        sw_sends = t->after;
        found = t;
        if (sw_slot_is(t->slot, SW_SLOT_JOINT))
            break;
    }
    if (found)
        found->held = true;
    return found;
}

static sw_track_t *freed_next(void)
{
    sw_track_t *t = sw_freed;
    if (!t)
        return NULL;
    sw_freed = t->after;
    if (t->held)
        return NULL;
    t->held = true;
    return t;
}

static bool idle(void)
{
    return !sw_posted_any() && !sw_sends && !sw_freed;
}

static sw_track_t *take_one(sw_track_t *(*next)(void))
{
    sw_tracks_enter();
    sw_track_t *t = next();
    sw_tracks_leave();
    return t;
}

uint64_t sw_track_turn(void)
{
    static uint64_t turn;
    return ++turn;
}

/* *turn is 0 for the first of a turn. */
static sw_track_t *receive_next(uint64_t *turn)
{
    sw_tracks_enter();
    if (!*turn)
        *turn = sw_track_turn();
    sw_track_t *t = sw_posted_next(*turn, false);
    sw_tracks_leave();
    return t;
}

/* Fetch what has arrived, whatever this thread waits for. A turn costs no more
 * for many requests than for some. */
void sw_track_progress(void)
{
    static __thread bool inside __attribute__((tls_model("initial-exec")));
    if (!sw_any_tracks() || inside)
        return;
    sw_serve_attended();
    if (idle())
        return;
    inside = true;
    sw_track_t *t;
    uint64_t turn = 0;
    for (int i = 0; i < SERVED && (t = receive_next(&turn)); i++) {
        look(t);
        sw_track_let_go(t);
    }
    if (sw_sends && (t = take_one(send_next))) {
        sw_track_ready(t);
        sw_track_let_go(t);
    }
    if (sw_freed && (t = take_one(freed_next)) && !finish_freed(t))
        sw_track_let_go(t);
    inside = false;
}

static bool could_get(const sw_track_t *t, sw_comm_t *c, int source, int tag)
{
    return !t->matched && !t->taken && !t->early && !t->cancelled &&
           t->comm == c &&
           (t->rank == source || t->rank == MPI_ANY_SOURCE) &&
           (t->tag == tag || t->tag == MPI_ANY_TAG);
}

/* Hold a track although the lock is given away meanwhile. Another thread of the
 * program's may end it, so false: it is held. The agent does not. */
static bool hold_here(sw_track_t *t)
{
    if (t->held && sw_threaded)
        return false;
    if (t->held) {
        sw_tracks_leave();
        sw_track_hold(t);
        sw_tracks_enter();
    }
    t->held = true;
    return true;
}

/* The lock is held, and given away while the host is asked. True: the host has
 * not completed some, or another thread is at work on them. */
static bool ask_ring(sw_tracks_t *ring, sw_comm_t *c, int source, int tag,
                     uint64_t walk)
{
    bool open = false;
    for (sw_track_t *t = *ring; t && t->walk != walk; t = t->after) {
        t->walk = walk;
        if (!could_get(t, c, source, tag))
            continue;
        if (!hold_here(t)) {
            open = true;
            continue;
        }
        if (sw_track_is_open(t)) {
            sw_tracks_leave();
            bool done = sw_track_ask(t);
            if (done)
                sw_track_peek(t, &t->status);
            open = open || !done;
            sw_tracks_enter();
        }
        t->held = false;
    }
    return open;
}

/* One thread at a time comes here (sw_match_enter): each walk goes through all
 * rings, and stops where it has been. */
bool sw_track_expected(sw_comm_t *c, int source, int tag)
{
    static uint64_t walk;
    bool open = false;
    sw_tracks_t *rings[SW_POSTED_RINGS];
    if (!sw_any_tracks() || !sw_posted_rings(c, source, tag, rings))
        return false;
    sw_notes_track(c, source, tag);
    sw_tracks_enter();
    walk++;
    for (int i = 0; i < SW_POSTED_RINGS; i++)
        if (ask_ring(rings[i], c, source, tag, walk))
            open = true;
    sw_tracks_leave();
    return open;
}
