/*
 * steps.h - the operations of a file's ranks, without details that differ
 * between like programs. By their steps two programs can be compared.
 *
 *     sw_steps_t steps;
 *     if (sw_steps_begin(&steps, ops))
 *         while (sw_steps_next(&steps, rank, &step))
 *             ...
 *     sw_steps_end(&steps);
 *
 * A step is an operation and what the rank computed before it, in however many
 * pieces. Steps leave out what a running program only asked for, and which
 * message a receive with wildcards took. A step names a request by the step
 * that began it, not by the number that a rank happened to give. Waits in a row
 * are in the order of their beginning: the order in which messages came is
 * chance. Where a rank changed to another section of the program, the
 * step behind it says so; no comparison uses that.
 */
#ifndef SW_VTIME_OPS_STEPS_H
#define SW_VTIME_OPS_STEPS_H

#include "vtime/base/lookup.h"
#include "file.h"

#include <stdio.h>

typedef struct {
    sw_vop_t op;              /* .kind 0: the end */
    sw_ps_t before, asleep;   /* computed, and slept, since the last change */
    uint32_t change, changes; /* of section before that: sw_steps_changes */
    uint64_t number;          /* of the operation in the file, from 1 */
    /* of a wait: the step that it waits for, from 1; 0: it is not known */
    uint64_t begun;
    uint64_t section; /* of the program; 0: none */
} sw_step_at_t;

/* The rank has come into another section. */
typedef struct {
    sw_ps_t before, asleep; /* since the last change or step */
    uint64_t section;
} sw_change_t;

typedef struct {
    sw_lookup_t begun; /* request -> step */
    sw_step_at_t *run; /* waits in a row, and what comes behind them */
    uint32_t at, count, room;
    sw_change_t *changes; /* of the run */
    uint32_t change_count, change_room;
    uint64_t number, steps, section;
    bool over;
} sw_stepper_t;

typedef struct {
    sw_op_file_t *ops;
    sw_op_source_t source;
    uint32_t ranks;
    sw_stepper_t *rank;
    bool memory;  /* there was always some */
    bool threads; /* of some rank there are several */
} sw_steps_t;

/* False: no memory. */
bool sw_steps_begin(sw_steps_t *steps, sw_op_file_t *ops);
/* From the beginning again. */
void sw_steps_rewind(sw_steps_t *steps);
void sw_steps_end(sw_steps_t *steps);

/* The next of a rank; after the one that is the end, false. */
bool sw_steps_next(sw_steps_t *steps, uint32_t rank, sw_step_at_t *step);
/* The changes before a rank's step, until its next; NULL: there are none. */
const sw_change_t *sw_steps_changes(const sw_steps_t *steps, uint32_t rank,
                                    const sw_step_at_t *step);

/* An operation as a line of text, for people; cut to the room that is there. */
void sw_op_words(const sw_vop_t *op, char *to, size_t room);

#endif
