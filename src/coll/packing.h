/*
 * packing.h - data with gaps, side by side in temporary memory.
 *
 * Who reads follows who packs: the entry is posted before, and the packer
 * stores in `ready` how much is there (release; acquired by the reader), so
 * that both are at work at once.
 */
#ifndef SW_COLL_PACKING_H
#define SW_COLL_PACKING_H

#include "payload.h"

typedef struct sw_packed {
    _Atomic uint64_t ready;     /* bytes                                    */
    char pad[SW_LINE - 8];
    char data[];
} sw_packed_t;

/* Room for n bytes, exposed as x->part: SW_FORM_PACKED, to be posted and then
 * filled; or, where readers cannot follow, false: then fill it, and call
 * sw_packing_end before the entry is posted. */
bool sw_packing(sw_group_t *g, sw_exposed_t *x, size_t n);
/* Pack n bytes behind those that are there. */
void sw_packing_add(sw_group_t *g, sw_exposed_t *x, const sw_data_t *data,
                    size_t n);
void sw_packing_end(sw_group_t *g, sw_exposed_t *x);

#endif
