/*
 * packing.h - data with gaps, side by side in temporary memory.
 *
 * Readers follow the packer. The packer posts the entry first, then stores in
 * `ready` how much is there (release; the reader acquires it). So both work at
 * once. A packer waits for no member.
 */
#ifndef SW_COLL_PACKING_H
#define SW_COLL_PACKING_H

#include "payload.h"

typedef struct sw_packed {
    _Atomic uint64_t ready; /* bytes */
    char pad[SW_LINE - 8];
    char data[];
} sw_packed_t;

/* Makes room for n bytes, exposed as x->part. True: the part is SW_FORM_PACKED,
 * and the caller posts it, then fills it. False: readers cannot follow. The
 * caller then fills it and calls sw_packing_end before it posts the entry. */
bool sw_packing(sw_sequence_t *seq, sw_exposed_t *x, size_t n);
/* Packs n bytes behind those that are there. */
void sw_packing_add(sw_sequence_t *seq, sw_exposed_t *x, const sw_data_t *data,
                    size_t n);
void sw_packing_end(sw_sequence_t *seq, sw_exposed_t *x);

#endif
