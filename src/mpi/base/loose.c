/*
 * loose.c - see loose.h.
 */
#include "loose.h"

#include "buffer.h"

#define ALIGNED 64

void sw_loose_span(const sw_datatype_t *d, int64_t count, int64_t *low,
                   int64_t *high)
{
    MPI_Count at = 0, extent = 0;
    if (d->layout) {
        sw_layout_span(d->layout, count, low, high);
        return;
    }
    host.Type_get_true_extent_x(d->handle, &at, &extent);
    int64_t last = (count - 1) * d->extent;
    *low = at + (last < 0 ? last : 0);
    *high = at + extent + (last > 0 ? last : 0);
}

sw_loose_t sw_loose(const sw_datatype_t *type, size_t n, const void *packed)
{
    int64_t low = 0, high = 0;
    if (n)
        sw_loose_span(type, (int64_t)n, &low, &high);
    char *room = sw_temporary((size_t)(high - low) + ALIGNED);
    uintptr_t at = sw_round_up((uintptr_t)room - (uintptr_t)low, ALIGNED);
    sw_loose_t l = {(void *)at, room};
    if (packed)
        sw_unpack(packed, l.at, (int64_t)n, type,
                  sw_datatype_comm(MPI_COMM_WORLD));
    return l;
}

void sw_loose_end(sw_loose_t *l, const sw_datatype_t *type, size_t n,
                  void *packed)
{
    if (packed)
        sw_pack(l->at, (int64_t)n, type, packed,
                sw_datatype_comm(MPI_COMM_WORLD));
    sw_temporary_free(l->room);
}
