/*
 * small.c - see small.h.
 */
#include "small.h"

#include "track.h"

uintptr_t sw_note_of[SW_NOTE_PLACES];
sw_note_t sw_notes[SW_NOTE_PLACES];
unsigned sw_noted;

static void track(const sw_note_t *note)
{
    sw_track_t *t = sw_track_receive(&note->in, note->comm, note->source,
                                     note->tag);
    sw_datatype_drop(note->in.type);       /* held twice now */
    sw_comm_drop(note->comm);
    t->handle = note->handle;
    sw_track_add(t);
}

void sw_note_back(const sw_note_t *note)
{
    if (!sw_note_put(note))
        track(note);
}

void sw_note_track(MPI_Request handle)
{
    sw_note_t note;
    sw_note_take(handle, &note);
    if (note.in.type)
        track(&note);
}

void sw_notes_track(const sw_comm_t *c, int source, int tag)
{
    for (unsigned i = 0; sw_noted && i < SW_NOTE_PLACES; i++) {
        const sw_note_t *note = &sw_notes[i];
        if (sw_note_of[i] && note->comm == c &&
            (note->source == source || note->source == MPI_ANY_SOURCE) &&
            (note->tag == tag || note->tag == MPI_ANY_TAG))
            sw_note_track(note->handle);
    }
}
