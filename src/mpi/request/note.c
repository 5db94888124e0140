/*
 * note.c - see note.h.
 */
#include "note.h"

uintptr_t sw_note_of[SW_NOTE_PLACES];
sw_note_t sw_notes[SW_NOTE_PLACES];
unsigned sw_noted;

const sw_note_owner_t *sw_note_owner;

void sw_note_back(const sw_note_t *note)
{
    if (!sw_note_put(note))
        sw_note_owner->track(note);
}

void sw_note_track(MPI_Request handle)
{
    sw_note_t note;
    sw_note_take(handle, &note);
    if (note.in.type)
        sw_note_owner->track(&note);
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
