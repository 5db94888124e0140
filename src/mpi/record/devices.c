/*
 * devices.c - calls whose data lie in a device's memory; see traffic.h.
 *
 * Where a driver is loaded, a question for each buffer of each call would cost
 * some 100 ns each: the linker's and the driver's. So a thread remembers what
 * it has been told of a page of addresses, for the next ASKED calls. A page
 * that the program frees, and that comes again as memory of another kind, is
 * taken for the old kind so long at most. No address is touched.
 *
 * The first byte of the first element stands for all of a call's data.
 */
#include "traffic.h"

#define PLACES 64
#define ASKED 256

typedef struct {
    uintptr_t page;
    uint16_t left; /* calls, before the driver is asked again */
    bool device;
} place_t;

static bool holds(uintptr_t at)
{
    static __thread place_t places[PLACES];
    uintptr_t page = at >> 12;
    place_t *p = &places[(page ^ page >> 6) % PLACES];
    if (p->page != page || !p->left)
        *p = (place_t){page, ASKED, sw_device_holds((const void *)at)};
    p->left--;
    return p->device;
}

static bool lie(sw_event_t *e, const void *user, MPI_Datatype type)
{
    const sw_datatype_t *t = type == MPI_DATATYPE_NULL ? NULL
                                                       : sw_known_type(type);
    uintptr_t at = (uintptr_t)user;
    if (t && t->layout)
        at += (uintptr_t)t->layout->low;
    if (!at || !holds(at))
        return false;
    if (t && !t->dense && t->layout && t->layout->runs && !e->piece)
        e->piece = sw_pending_code(t->layout->size / t->layout->runs);
    return true;
}

void sw_record_devices_slow(sw_event_t *e, const void *out, MPI_Datatype sent,
                            const void *in, MPI_Datatype received)
{
    e->device_sent = out && lie(e, out, sent);
    e->device_received = in && lie(e, in, received);
}

void sw_event_devices(sw_event_t *e)
{
    const sw_pending_t all = {.device_sent = e->device_sent,
                              .device_received = e->device_received,
                              .piece = e->piece};
    sw_record_device_moved(e, &all, e->amount.sent, e->amount.received);
}
