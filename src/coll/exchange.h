/*
 * exchange.h - what the reducing collectives share: each member posts an
 * operand and sees all operands.
 */
#ifndef SW_COLL_EXCHANGE_H
#define SW_COLL_EXCHANGE_H

#include "coll.h"

/* Waits for all members' payloads of this step. from[i] is member i's, and
 * from[me] stands for [own, own + bytes). A payload of another size than
 * `bytes` is SW_TRUNCATED. */
int sw_sources(sw_sequence_t *seq, uint64_t step, uint32_t what,
               const void *own, size_t bytes, sw_source_t *from);

/* Exposes `in` for reading and `out` for reading or writing, posts both, and
 * waits for all members'. outs[i] is member i's `out`. Either may be NULL: not
 * offered. */
typedef struct {
    sw_exposed_t in, out;
} sw_exchange_t;

int sw_exchange(sw_sequence_t *seq, uint64_t step, uint32_t what,
                const void *in, void *out, size_t bytes, sw_exchange_t *x,
                sw_source_t *from, sw_part_t *outs);
void sw_exchange_end(sw_exchange_t *x, bool written);

#endif
