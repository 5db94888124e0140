/*
 * started.h - nonblocking collectives inside a node, by measured parts of their
 * time.
 *
 * A table has parts of the time T that the blocking call takes. Processors
 * carry such a collective out, and only within calls:
 *
 *     start   the call that starts it
 *     shared  work that any member can do, once all members that it depends on
 *             have come, while some member is in a call that waits
 *     own     what each member does itself, from its own wait on
 *     aside   the part of `shared` that goes on while all members compute
 *     held    above a half: no member leaves before all have waited
 *
 * A host's late member finds all its work undone (`own` is large). Where
 * members work for each other, it finds the work done.
 *
 * Between two sizes a part lies on the line in the logarithm of bytes. Beyond
 * them it stays as it is.
 */
#ifndef SW_VTIME_MODEL_STARTED_H
#define SW_VTIME_MODEL_STARTED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t bytes;
    double start, shared, own; /* in parts of T */
    double aside, held;        /* from 0 to 1 */
} sw_started_point_t;

/* Its points, sorted by bytes. */
typedef struct {
    sw_started_point_t *points;
    uint32_t count, room;
} sw_started_table_t;

/* The same bytes again: the last counts. False: no memory. */
bool sw_started_add(sw_started_table_t *table, const sw_started_point_t *point);
/* The table has a point. */
sw_started_point_t sw_started_at(const sw_started_table_t *table,
                                 uint64_t bytes);

#endif
