/*
 * later.c - see later.h.
 */
#include "later.h"

#include "clock.h"

/* Ticks until the first new look: a receiver that is awake posts sooner. */
#define SOON 4096u

void sw_later_note(sw_later_t *later, const sw_board_t *board, uint64_t key)
{
    sw_later_call_t *call = &later->call[later->at];
    if (call->record) { /* of an older call: it is forgotten */
        call->record = NULL;
        call->count = 0;
    }
    if (call->count < SW_LATER_LOOKS)
        call->look[call->count++] = (sw_later_look_t){board, key};
}

void sw_later_keep(sw_later_t *later, sw_record_t *record, uint64_t seen,
                   uint64_t end, double weight)
{
    sw_later_call_t *call = &later->call[later->at];
    if (call->record || !call->count)
        return; /* this call has noted nothing */
    if (!record) {
        call->count = 0;
        return;
    }
    call->record = record;
    call->seen = seen;
    call->end = end;
    call->weight = weight;
    call->next = end + SOON;
    later->due = later->due && later->due < call->next ? later->due
                                                       : call->next;
    later->at = (later->at + 1) % SW_LATER_CALLS;
}

static void look(sw_later_call_t *call)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < call->count; i++) {
        uint64_t ticks = sw_board_look(call->look[i].board, call->look[i].key);
        if (!ticks) {
            call->look[left++] = call->look[i];
        } else if (ticks > call->seen && ticks <= call->end) {
            uint64_t ns = sw_clock_ns(ticks - call->seen);
            sw_record_bump(&call->record->waited,
                           (uint64_t)((double)ns * call->weight));
            call->seen = ticks;
        }
    }
    call->count = left;
    if (!left)
        call->record = NULL;
}

void sw_later_look(sw_later_t *later, uint64_t now)
{
    uint64_t due = 0;
    for (uint32_t i = 0; i < SW_LATER_CALLS; i++) {
        sw_later_call_t *call = &later->call[i];
        if (call->record && call->next <= now) {
            look(call);
            call->next = now + (now - call->end);
        }
        if (call->record && (!due || call->next < due))
            due = call->next;
    }
    later->due = due;
}
