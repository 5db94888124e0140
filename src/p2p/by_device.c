/*
 * by_device.c - see by_device.h.
 */
#include "by_device.h"

#include "device/carry.h"

static _Atomic uint64_t moved;

uint64_t sw_by_device_count(void)
{
    return atomic_load(&moved);
}

/* As many elements as the bytes need: a receive may name more of them than its
 * memory has. */
static sw_carry_side_t side_of(const sw_data_t *d, size_t n)
{
    const sw_layout_t *l = d->layout;
    return (sw_carry_side_t){
        .layout = l,
        .at = d->at,
        .count = (int64_t)(!l        ? n
                           : l->size ? (n + l->size - 1) / l->size
                                     : 0)};
}

bool sw_by_device(const sw_data_t *from, const sw_data_t *to, size_t n)
{
    if ((from->layout && !from->layout->size) ||
        (to->layout && !to->layout->size))
        return false;
    const sw_carry_side_t source = side_of(from, n), target = side_of(to, n);
    bool carried = sw_carry(&source, &target, n);
    if (carried)
        atomic_fetch_add_explicit(&moved, 1, memory_order_relaxed);
    return carried;
}

bool sw_by_device_take(const sw_peer_t *peer, const sw_slot_t *slot,
                       const sw_target_t *to, size_t n)
{
    sw_data_t from;
    const sw_data_t *target = to->device ? to->device : &to->data;
    if (!to->drives)
        return false;
    const sw_carry_side_t side = side_of(target, n);
    char *lowest = sw_ipc_open(&slot->device, to->place,
                               sw_carry_lowest(&side, NULL));
    bool taken = false;
    if (lowest && !sw_data_find_form(peer, &slot->shown, lowest, slot->shown.at,
                                     slot->bytes, &from)) {
        taken = sw_by_device(&from, target, n);
        sw_data_done(&from);
    }
    if (lowest)
        sw_ipc_done(lowest);
    return taken;
}
