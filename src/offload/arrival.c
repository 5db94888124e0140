/*
 * arrival.c - see arrival.h.
 */
#include "arrival.h"

static void post(sw_list_t *l, sw_slate_row_t *row)
{
    row->form = SW_FORM_INLINE;
    row->bytes = 0;
}

static bool work(sw_list_t *l, bool calls)
{
    return false;
}

static bool over(sw_list_t *l)
{
    sw_arrival_t *a = (sw_arrival_t *)l;
    while (a->seen < l->on->n && sw_list_look(l, a->seen))
        a->seen++;
    return a->seen == l->on->n;
}

static void end(sw_list_t *l)
{
}

static const sw_list_kind_t arrival_kind = {post, work, over, end};

void sw_arrival_begin(sw_arrival_t *a, sw_slates_t *on)
{
    a->seen = 0;
    sw_list_begin(&a->list, &arrival_kind, on, sw_what(SW_COLL_BARRIER, 0));
}
