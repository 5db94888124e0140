/*
 * receives.c - see receives.h. What nobody asks for just now is in progress.c.
 */
#include "receives.h"

#include "doubt.h"
#include "give.h"
#include "mpi/base/buffer.h"
#include "posted.h"
#include "serve.h"

#include <stdlib.h>
#include <string.h>

sw_tracks_t sw_receives_freed;

sw_receive_t *sw_receive_new(const sw_track_kind_t *kind,
                             const sw_recv_buffer_t *in, sw_comm_t *comm,
                             int source, int tag)
{
    sw_receive_t *r = (sw_receive_t *)sw_track_new(kind, comm);
    if (!r) {
        sw_say("out of memory in a receive");
        abort();
    }
    r->matched = r->taken = r->early = false;
    r->into = r->parcel = NULL;
    r->in = *in;
    sw_datatype_hold(in->type);
    r->source = source;
    r->tag = tag;
    return r;
}

void sw_receive_add(MPI_Request handle, const sw_recv_buffer_t *in,
                    sw_comm_t *comm, int source, int tag, bool matched)
{
    sw_receive_t *r = sw_receive_new(&sw_receive_kind, in, comm, source, tag);
    r->track.handle = handle;
    r->matched = matched;
    sw_track_add(&r->track);
}

void sw_receive_add_take(MPI_Request handle, const sw_recv_buffer_t *in,
                         sw_comm_t *comm, int source, int tag, void **into)
{
    sw_receive_t *r = sw_receive_new(&sw_receive_kind, in, comm, source, tag);
    r->track.handle = handle;
    r->into = into;
    sw_track_add(&r->track);
}

void sw_receive_release(sw_track_t *t)
{
    sw_receive_t *r = (sw_receive_t *)t;
    sw_datatype_drop(r->in.type);
    sw_temporary_free(r->in.block);
}

/* A peer may be waiting for it. A receive that cannot hold a large message
 * keeps nobody waiting; but one that is freed ends in nobody's call. */
static void owe(sw_track_t *t)
{
    if (sw_track_owe(t) && sw_served)
        sw_agent_wake();
}

void sw_receive_enlist(sw_track_t *t)
{
    sw_receive_t *r = (sw_receive_t *)t;
    r->taken = r->early = r->spread = r->heard = false;
    r->error = MPI_SUCCESS;
    if (sw_posted_add(r) && sw_recv_buffer_is_large(&r->in))
        owe(t);
}

void sw_receive_delist(sw_track_t *t)
{
    if (t->freed)
        sw_tracks_remove(t);
    else
        sw_posted_remove((sw_receive_t *)t);
}

static bool take_parcel(sw_receive_t *r)
{
    r->parcel = r->into ? sw_fetch_parcel(&r->in, &r->bytes) : NULL;
    return r->parcel;
}

void sw_receive_take(sw_receive_t *r)
{
    if (r->early) {
        if (!r->parcel)
            memcpy(r->in.buffer, r->head, sw_min(r->bytes, sizeof r->head));
        r->taken = true;
        return;
    }
    r->taken = take_parcel(r) ||
               sw_fetch(&r->in, r->track.comm, &r->bytes, &r->error);
}

/* The host has completed it: the program gets the parcel, if there is one. */
static void replace_buffer(sw_receive_t *r)
{
    if (!r->parcel)
        return;
    free(r->in.buffer);
    *r->into = r->in.buffer = r->parcel;
    r->parcel = NULL;
    sw_give_count(SW_GIVE_TAKEN, r->bytes);
}

/* The program will not hear when it completes: its buffer stays. */
static void keep_buffer(sw_receive_t *r)
{
    r->into = NULL;
    if (!r->parcel)
        return;
    size_t apart = r->taken ? 0 : sizeof r->head;   /* bytes >= that */
    memcpy(r->head, r->parcel, apart);
    memcpy((char *)r->in.buffer + apart, (char *)r->parcel + apart,
           r->bytes - apart);
    free(r->parcel);
    r->parcel = NULL;
}

void sw_receive_take_early(sw_receive_t *r)
{
    r->early = take_parcel(r) ||
               sw_fetch_early(r->in.buffer, sw_recv_buffer_room(&r->in),
                              r->head, &r->bytes, &r->error);
}

int sw_receive_peek(sw_track_t *t, MPI_Status *status)
{
    sw_receive_t *r = (sw_receive_t *)t;
    int gone = 0;
    if (t->cancelled)
        host.Test_cancelled(status, &gone);
    /* The program may have released the buffer of one that is gone. */
    if (gone || sw_likely(!r->taken && sw_plainly_none(&r->in)))
        return MPI_SUCCESS;
    size_t bytes = r->taken ? 0 : sw_status_bytes(status);
    if (bytes == SW_DESCRIPTOR_BYTES)
        sw_receive_take(r);
    if (r->taken) {
        replace_buffer(r);
        sw_status_set_bytes(status, r->bytes);
        return r->error;
    }
    if (bytes == SW_DESCRIPTOR_BYTES && !r->heard) {
        r->heard = true;
        sw_heard(t->comm, status->MPI_SOURCE, status->MPI_TAG);
    }
    if (r->in.block && !r->spread && bytes != SIZE_MAX) {
        sw_recv_buffer_spread(&r->in, bytes, t->comm);
        r->spread = true;
    }
    return MPI_SUCCESS;
}

static int finish(sw_track_t *t, MPI_Status *status)
{
    if (t->ended)
        *status = t->status;
    return sw_receive_peek(t, status);
}

static int start(sw_track_t *t, MPI_Request *request)
{
    return host.Start(request);
}

void sw_receive_free(sw_track_t *t)
{
    if (!t->active) {
        sw_track_forget(t, NULL);
        return;
    }
    keep_buffer((sw_receive_t *)t);
    sw_tracks_enter();
    sw_posted_remove((sw_receive_t *)t);
    sw_tracks_add(&sw_receives_freed, t);
    owe(t);
    t->freed = true;            /* progress ends it */
    t->held = false;
    sw_tracks_leave();
}

static int cancel(sw_track_t *t, MPI_Request *request)
{
    t->cancelled = true;
    return host.Cancel(request);
}

static sw_track_t *spare;

const sw_track_kind_t sw_receive_kind = {
    .size = sizeof(sw_receive_t),
    .spare = &spare,
    .ask = sw_track_ask_host,
    .peek = sw_receive_peek,
    .finish = finish,
    .start = start,
    .free = sw_receive_free,
    .cancel = cancel,
    .enlist = sw_receive_enlist,
    .delist = sw_receive_delist,
    .release = sw_receive_release,
    .progress = sw_receive_progress,
    .failed = sw_failed,
};

static void track_note(const sw_note_t *note)
{
    sw_receive_add(note->handle, &note->in, note->comm, note->source,
                   note->tag, false);
    sw_datatype_drop(note->in.type);       /* held twice now */
    sw_comm_drop(note->comm);
}

const sw_note_owner_t sw_receive_notes = {
    .received = sw_received_slow,
    .track = track_note,
};
