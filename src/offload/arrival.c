/*
 * arrival.c - see arrival.h.
 */
#include "arrival.h"

static void post(sw_schedule_t *s, sw_slate_row_t *row)
{
    row->form = SW_FORM_INLINE;
    row->bytes = 0;
}

static bool work(sw_schedule_t *s, bool calls)
{
    return false;
}

static bool over(sw_schedule_t *s)
{
    sw_arrival_t *a = (sw_arrival_t *)s;
    while (a->seen < s->on->n && sw_schedule_look(s, a->seen))
        a->seen++;
    return a->seen == s->on->n;
}

static void end(sw_schedule_t *s)
{
}

static const sw_schedule_kind_t arrival_kind = {post, work, over, end};

void sw_arrival_begin(sw_arrival_t *a, sw_slates_t *on)
{
    a->seen = 0;
    sw_schedule_begin(&a->schedule, &arrival_kind, on,
                      sw_sequence_what(SW_COLL_BARRIER, 0));
}
