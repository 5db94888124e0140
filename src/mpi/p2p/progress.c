/*
 * progress.c - serving receives that nobody asks for just now; see receives.h.
 *
 * Copies are made without the lock: the thread that makes one holds the track.
 * posted.h finds the receives to look at. Of those that the program has freed,
 * one gets its turn each time.
 */
#include "posted.h"
#include "serve.h"

static void look(sw_receive_t *r)
{
    if (sw_recv_buffer_shows(&r->in) && sw_threaded)
        sw_receive_take_early(r);   /* another thread may be in the host */
    else if (sw_recv_buffer_shows(&r->in))
        sw_receive_take(r);
    else if (sw_track_ask(&r->track))
        sw_receive_peek(&r->track, &r->track.status);
}

/* A receive whose request the program has freed: has it ended? */
static bool finish_freed(sw_track_t *t)
{
    MPI_Request handle = t->handle;
    MPI_Status status;
    int done = 0;
    if (!sw_track_ready(t))
        return false;
    host.Test(&handle, &done, &status);
    if (!done)
        return false;
    t->persistent = false;              /* to the host it may be, inactive */
    sw_track_finish(t, &status);
    return true;
}

static sw_track_t *freed_next(void)
{
    sw_tracks_enter();
    sw_track_t *t = sw_receives_freed;
    if (t)
        sw_receives_freed = t->after;
    if (t && t->held)
        t = NULL;
    if (t)
        t->held = true;
    sw_tracks_leave();
    return t;
}

uint64_t sw_receive_turn(void)
{
    static uint64_t turn;
    return ++turn;
}

/* *turn is 0 for the first of a turn. */
static sw_receive_t *receive_next(uint64_t *turn)
{
    sw_tracks_enter();
    if (!*turn)
        *turn = sw_receive_turn();
    sw_receive_t *r = sw_posted_next(*turn, false);
    sw_tracks_leave();
    return r;
}

/* So many receives at most are served in a turn. */
#define SERVED 8

/* Fetch what has arrived, whatever this thread waits for. A turn costs no more
 * for many requests than for some. */
void sw_receive_progress(void)
{
    sw_receive_t *r;
    sw_track_t *t;
    uint64_t turn = 0;
    sw_serve_attended();
    if (sw_posted_any())
        for (int i = 0; i < SERVED && (r = receive_next(&turn)); i++) {
            look(r);
            sw_track_let_go(&r->track);
        }
    if (sw_receives_freed && (t = freed_next()) && !finish_freed(t))
        sw_track_let_go(t);
}

static bool could_get(const sw_receive_t *r, sw_comm_t *c, int source, int tag)
{
    return !r->matched && !r->taken && !r->early && !r->track.cancelled &&
           r->track.comm == c &&
           (r->source == source || r->source == MPI_ANY_SOURCE) &&
           (r->tag == tag || r->tag == MPI_ANY_TAG);
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
    for (sw_track_t *t = *ring; t; t = t->after) {
        sw_receive_t *r = (sw_receive_t *)t;
        if (r->walk == walk)
            break;
        r->walk = walk;
        if (!could_get(r, c, source, tag))
            continue;
        if (!hold_here(t)) {
            open = true;
            continue;
        }
        if (sw_receive_is_open(r)) {
            sw_tracks_leave();
            bool done = sw_track_ask(t);
            if (done)
                sw_receive_peek(t, &t->status);
            open = open || !done;
            sw_tracks_enter();
        }
        t->held = false;
    }
    return open;
}

/* One thread at a time comes here (sw_match_enter): each walk goes through all
 * rings, and stops where it has been. */
bool sw_receive_expected(sw_comm_t *c, int source, int tag)
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
