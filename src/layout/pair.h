/*
 * pair.h - two regular layouts walked together: from scattered bytes to
 * scattered bytes in one pass.
 *
 * A layout is regular if it repeats one run, however nested. Where both are,
 * the run and the step at hand are known on either side. Each copy takes the
 * bytes that fit both.
 */
#ifndef SW_LAYOUT_PAIR_H
#define SW_LAYOUT_PAIR_H

#include "layout.h"

#define SW_NEST 6 /* levels of repetition */

typedef struct {
    uint64_t run; /* bytes */
    int levels;
    struct {
        int64_t count, stride;
    } level[SW_NEST]; /* the innermost first */
} sw_nest_t;

/* The node `n` (of `l`, or above its root) as a nest; false: it is none. */
bool sw_nest(const sw_layout_t *l, const sw_layout_node_t *n, sw_nest_t *to);

/* Is one pass better than two through a buffer? */
bool sw_pair_suits(const sw_nest_t *from, const sw_nest_t *to);

/* Copy the bytes [begin, end) of the data. */
void sw_pair_copy(const sw_nest_t *from, const char *source,
                  const sw_nest_t *to, char *target, uint64_t begin,
                  uint64_t end);

#endif
