/*
 * shape.h - from a layout to a shape that a kernel takes.
 *
 * A layout that is REPEATs of a run becomes a nest: numbers, that the launch
 * carries. Any other is flattened to a list of runs, whose table lies in the
 * device's memory. The table is made once for each layout and context, and
 * stays until the layout goes (sw_layout_gone of layout/share.h). A layout that
 * has no holders cannot be heard of: its table lasts for one message.
 *
 * Any thread may free a layout, in no context at all. Its table then becomes
 * spare: the next layout of about that size in the same context takes the
 * memory. Large ones are given back at the next visit. A message holds the
 * tables that it uses, so none becomes spare under a kernel.
 */
#ifndef SW_DEVICE_SHAPE_H
#define SW_DEVICE_SHAPE_H

#include "context.h"
#include "layout/layout.h"
#include "plan.h"

typedef struct sw_table_kept sw_table_kept_t;

typedef struct {
    sw_shape_t shape;
    sw_table_kept_t *table; /* held until sw_shape_end; NULL: a nest */
} sw_shaped_t;

/* The shape of `count` elements of a layout at address `base`; `layout` NULL:
 * `count` bytes. `wide`: a table has entries of 64 bits. Within a visit. A
 * table goes to the device on the stream of `stage`. False: there is none. */
bool sw_shape(sw_context_t *c, sw_stage_t *stage, const sw_layout_t *layout,
              int64_t count, sw_cuda_at_t base, bool wide, sw_shaped_t *to);
/* `done`: nothing on the device uses the table any more, as far as is known. */
void sw_shape_end(sw_context_t *c, sw_shaped_t *s, bool done);

/* Of a nest alone, by arithmetic. False: it is none. */
SW_API bool sw_shape_nest(const sw_layout_t *layout, int64_t count,
                          uint64_t base, sw_shape_t *to);

/* Give large tables of layouts that went back to the driver. Within a visit. */
void sw_tables_sweep(sw_context_t *c);
/* The context is gone, or left alone: forget its tables. */
void sw_tables_forget(sw_context_t *c);

/* For tests: tables that layouts have, and spare ones, in all contexts. */
SW_API void sw_tables_count(size_t *used, size_t *spare);

#endif
