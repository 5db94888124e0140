/*
 * trace.c - calls on their way into the trace.
 */
#include "event.h"

void sw_event_trace(sw_event_t *e, sw_record_t *record)
{
    sw_tracer_t *t = e->recorder->tracer;
    if (e->looked && e->latest > e->began)
        SW_NOTE(t, SW_NOTE_WAITED, sw_min(e->latest - e->began, e->ticks));
    /* What a call was about to do it has not done. */
    if (sw_unlikely(e->amount.failed))
        t->notes_used = 0;
    sw_tracer_event(t, record, e->began, e->ticks, &e->amount);
}
