/*
 * near_device.c - see near_device.h.
 */
#include "near_device.h"

#include "layout/data.h"
#include "mpi/base/buffer.h"
#include "mpi/base/reach.h"
#include "node/base/settings.h"

/* All ranks are near: no receive is also the host's (either.h), so no message
 * is held up until a helper thread secures or delivers it. */
static bool alone;
static _Atomic int64_t staged;

void sw_near_device_start(void)
{
    alone = sw_roster.places == sw_roster.ranks;
    for (int i = 0; i < sw_roster.places; i++)
        alone = alone && sw_near_at[i];
}

/* Types that only the host understands are packed wherever they lie. */
void sw_near_device_staged(const sw_datatype_t *type)
{
    if (sw_settings.gpu && (type->dense || type->layout))
        atomic_fetch_add_explicit(&staged, 1, memory_order_relaxed);
}

int64_t sw_near_device_count(void)
{
    return atomic_load(&staged);
}

/* Sending ------------------------------------------------------------------ */

bool sw_near_device_offers(sw_near_send_t *s)
{
    const sw_near_t *w = &s->what;
    int64_t low;
    bool own = s->place == sw_roster.place;
    if (!sw_settings.gpu || !(w->type->dense || w->type->layout) ||
        ((own || s->mode == SW_SEND_SYNCHRONOUS) && !alone))
        return false;
    if (own)
        return true;
    if (!sw_data_show_form(&s->data, w->bytes, &s->form, &low) ||
        !s->form.span ||
        !sw_ipc_export((const char *)((intptr_t)s->data.at + low), s->form.span,
                       &s->at_device))
        return false;
    s->form.at = s->form.span;
    s->form.span = SW_SHOWN_DEVICE;
    return true;
}

void sw_near_device_bind(sw_near_send_t *s)
{
    s->offer.readable = s->offer.direct = false;
    s->offer.shown = s->form;
    s->offer.device = &s->at_device;
}

void sw_near_device_gather(const void *send, char *to)
{
    const sw_near_t *w = &((const sw_near_send_t *)send)->what;
    sw_near_device_staged(w->type);
    sw_pack(w->buffer, w->count, w->type, to, sw_comm_or_any(w->comm));
}

void sw_near_device_pack(sw_near_send_t *s)
{
    s->packed = sw_temporary(s->what.bytes);
    sw_near_device_gather(s, s->packed);
    s->data = sw_data_plain(s->packed);
    s->device = false;
}

/* Receiving ---------------------------------------------------------------- */

bool sw_near_device_target(const sw_near_receive_t *r, sw_data_t *to)
{
    const sw_near_t *w = &r->what;
    if (!sw_settings.gpu || sw_matcher_helps ||
        !(w->type->dense || w->type->layout))
        return false;
    *to = (sw_data_t){.at = w->buffer,
                      .count = w->count,
                      .layout = w->type->dense ? NULL : w->type->layout};
    return true;
}
