/*
 * gate.c - see gate.h.
 */
#include "gate.h"

int sw_gate_hand(sw_span_t *s, int from, int to, const void *data, void *recv,
                 size_t bytes)
{
    SW_ARRAY(sw_extent_t, list, s->here);
    for (int i = 0; i < s->here; i++)
        list[i] = (sw_extent_t){0, i == from ? bytes : 0};
    sw_data_t send = sw_data_plain(data);
    return sw_coll_gatherv(s->sequence, to, &send, s->mine == from ? bytes : 0,
                           recv, &(sw_blocks_t){.list = list});
}
