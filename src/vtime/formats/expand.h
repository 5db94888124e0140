/*
 * expand.h - collectives as messages, for forms that have none.
 *
 *     sw_expand_t expand;
 *     if (sw_expand_begin(&expand, ops, how))
 *         for (k = 0; sw_expand_step(&expand, rank, &op, k, &step); k++)
 *             ...
 *     sw_expand_end(&expand);
 *
 * Steps are those of an algorithm (algorithm.h), with ranks of the world in
 * place of members. Where members differ in the size of their blocks, all take
 * the largest, so that they agree on the steps. Messages of a collective have
 * a tag of its own.
 */
#ifndef SW_VTIME_FORMATS_EXPAND_H
#define SW_VTIME_FORMATS_EXPAND_H

#include "vtime/model/algorithm.h"
#include "convert.h"
#include "vtime/base/lookup.h"

typedef struct {
    const sw_convert_t *how;
    uint32_t ranks;
    uint32_t count;
    uint32_t *numbers, *sizes, **members;
    sw_lookup_t places; /* (rank, context) -> its number there, and 1 */
    sw_lookup_t begun;  /* (rank, context) -> collectives so far */
    sw_lookup_t bytes;  /* (context, collective) -> the largest block */
    sw_lookup_t tags;   /* (context, tag) -> the number it gets */
    bool memory;
    bool graph; /* a rank is a partial order */
} sw_expand_t;

/* The collective at hand of a rank. */
typedef struct {
    const sw_algorithm_t *algorithm;
    sw_call_t call;
    uint32_t me, place; /* place: in the contexts; count: the world */
    uint64_t nth;
} sw_expanded_t;

/* Goes through all operations of the file `in` once. False, and a sentence: no
 * memory, or a rank has several threads, which no other form can tell. */
bool sw_expand_begin(sw_expand_t *expand, sw_op_file_t *ops,
                     const sw_convert_t *how, const char *in);
void sw_expand_end(sw_expand_t *expand);

/* The next collective of a rank, in the order of its operations. */
void sw_expand_call(sw_expand_t *expand, uint32_t rank, const sw_vop_t *op,
                    sw_expanded_t *to);
/* Its k-th step; `to` and `from` are ranks of the world. False: done. */
bool sw_expand_step(const sw_expand_t *expand, const sw_expanded_t *call,
                    uint32_t k, sw_step_t *step);

/* Is a context all of the world, in its order? */
bool sw_expand_world(const sw_expand_t *expand, uint32_t context);

/* One number for a tag of a context (of a collective: its `nth`, from 0, with
 * SW_EXPAND_COLLECTIVE), alike wherever the caller asks for it. Tags of the
 * world stay as they are, if they are small. */
#define SW_EXPAND_TAG_SMALL (1 << 20)
#define SW_EXPAND_COLLECTIVE ((uint64_t)1 << 40)
uint32_t sw_expand_tag(sw_expand_t *expand, uint32_t context, uint64_t tag);

#endif
