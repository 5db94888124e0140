/*
 * narrow.h - a reduction of a long vector through the areas of the rows, where
 * a member has no room for what it should lend.
 *
 * Such a member's row says so. A reduction begins when all rows are there, so
 * all members see it, and all go this way: each puts its operand into its area,
 * a chunk at a time, and combines the chunks of all that its own result takes.
 * The order of the operands is the usual one, and so are the bits.
 *
 *   area    0    put (8)    so many bytes of its operand were there, or are
 *           64   taken (8)  so many bytes of all operands has it copied
 *           128  the chunk that ends at `put`
 *
 * A member stores `put` after the chunk (release). It overwrites the chunk when
 * all members have stored a `taken` that is no less (release, acquire). One
 * that gets no result takes everything at once. All cut the vector alike: an
 * area holds a number of elements, or an element takes several chunks.
 */
#ifndef SW_OFFLOAD_NARROW_H
#define SW_OFFLOAD_NARROW_H

#include "schedule.h"

typedef struct {
    _Atomic uint64_t put;
    char pad[SW_LINE - 8];
    _Atomic uint64_t taken;
    char pad2[SW_LINE - 8];
    char data[];
} sw_narrow_area_t;

/* A member's end. */
typedef struct {
    const sw_reducer_t *reducer;
    sw_order_t order;    /* in which the operands are combined */
    const char *in;      /* its operand */
    char *out;           /* where element `first` of its result goes */
    size_t first, count; /* elements of its result */
    size_t n;            /* elements of the vector */
    int operands;        /* from member 0 on; 0: it gets no result */
    size_t room, block;  /* bytes of a chunk, and combined at a time */
    uint64_t put, taken;
} sw_narrow_t;

/* Call it before the row is posted, whether the others go this way or not. */
void sw_narrow_open(sw_schedule_t *s, bool takes);
/* Call it when all rows are there; `w` describes the reduction. */
void sw_narrow_begin(sw_narrow_t *w, const sw_schedule_t *s);
/* Does something. False: there is nothing to do now. */
bool sw_narrow_work(sw_narrow_t *w, sw_schedule_t *s);
/* Has this member put and taken all? Sets s->status if another one has left too
 * early. */
bool sw_narrow_over(const sw_narrow_t *w, sw_schedule_t *s);

#endif
