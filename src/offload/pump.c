/*
 * pump.c - see pump.h.
 */
#include "pump.h"

#define MEMBERS 65536 /* of a word: the rest is the number */
_Static_assert(SW_MEMBERS_MAX < MEMBERS, "a member fits");

void sw_pump_begin(sw_pump_t *p, void *area, size_t bytes)
{
    *p = (sw_pump_t){.area = area, .room = bytes - sizeof *p->area};
    sw_assert(bytes > sizeof *p->area);
    atomic_store_explicit(&p->area->put, 0, memory_order_relaxed);
    atomic_store_explicit(&p->area->taken, 0, memory_order_relaxed);
}

bool sw_pump_idle(const sw_pump_t *p, const sw_schedule_t *s)
{
    return atomic_load_explicit(&p->area->taken, memory_order_acquire) ==
               p->put ||
           sw_row_left(sw_schedule_row(s, (int)(p->put % MEMBERS)), s->turn);
}

bool sw_pump_put(sw_pump_t *p, int to, uint64_t block, const sw_data_t *data,
                 uint64_t all)
{
    sw_pump_area_t *a = p->area;
    uint64_t begin = p->at, end = sw_min(all, begin + p->room);
    sw_data_t chunk = sw_data_plain(a->data - begin);
    if (begin < end)
        sw_data_copy(data, &chunk, begin, end);
    a->block = block;
    a->begin = begin;
    a->bytes = end - begin;
    a->all = all;
    p->to = to;
    p->at = end;
    p->put = (p->put / MEMBERS + 1) * MEMBERS + (unsigned)to;
    atomic_store_explicit(&a->put, p->put, memory_order_release);
    return end == all;
}

const sw_pump_area_t *sw_pump_look(const sw_schedule_t *s, const void *area)
{
    sw_pump_area_t *a = (sw_pump_area_t *)(uintptr_t)area;
    uint64_t put = atomic_load_explicit(&a->put, memory_order_acquire);
    uint64_t taken = atomic_load_explicit(&a->taken, memory_order_relaxed);
    return put % MEMBERS == (unsigned)s->on->me &&
                   put / MEMBERS > taken / MEMBERS
               ? a
               : NULL;
}

void sw_pump_take(const sw_pump_area_t *area)
{
    sw_pump_area_t *a = (sw_pump_area_t *)(uintptr_t)area;
    atomic_store_explicit(&a->taken,
                          atomic_load_explicit(&a->put, memory_order_relaxed),
                          memory_order_release);
}
