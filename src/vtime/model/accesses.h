/*
 * accesses.h - measured times of one-sided calls within a node.
 *
 * There processors carry them out, mostly the origin's own, so that they take
 * other times than messages. With so many bytes a call takes
 *
 *     call    the origin, each
 *     rest    what a flush right behind it takes besides
 *
 * The origin may use its memory after `call`, or, of what it gets, after
 * `rest`. Then it knows that the call is complete at the target, too. So n of
 * them and a flush take n call + rest. They do not hinder each other.
 *
 * A lock that is free takes `lock`: half of it passes before the target has the
 * request, and half after. The unlock takes its origin `unlock`, after which
 * the lock is free.
 *
 * Between two sizes a time lies on the line through both; below the first it is
 * that one's, and above the last the rate of the last two goes on.
 */
#ifndef SW_VTIME_MODEL_ACCESSES_H
#define SW_VTIME_MODEL_ACCESSES_H

#include "vtime/ops/op.h"

/* Whose memory a window has: the program's own, or the MPI's. */
typedef enum {
    SW_MEMORY_CREATED,
    SW_MEMORY_ALLOCATED,
    SW_MEMORY_COUNT
} sw_memory_t;

typedef struct {
    uint64_t bytes;
    sw_ps_t call, rest;
} sw_access_point_t;

/* Its points, by their bytes. */
typedef struct {
    sw_access_point_t *points;
    uint32_t count, room;
} sw_access_table_t;

enum { SW_ACCESSES = SW_WINDOW_FETCH - SW_WINDOW_PUT + 1 };

/* By sw_memory_t; of put, reduce, get and fetch, in this order. */
typedef struct {
    sw_access_table_t tables[SW_MEMORY_COUNT][SW_ACCESSES];
    bool has_locks[SW_MEMORY_COUNT];
    sw_ps_t lock[SW_MEMORY_COUNT], unlock[SW_MEMORY_COUNT];
} sw_accesses_t;

/* The names of model_file.h, by sw_memory_t. */
extern const char *const sw_memory_names[SW_MEMORY_COUNT];

/* NULL, or what is wrong with it: static text. */
const char *sw_accesses_add(sw_accesses_t *accesses, sw_memory_t memory,
                            sw_window_t what, const sw_access_point_t *point);
/* False: nothing was measured of it. */
bool sw_accesses_at(const sw_accesses_t *accesses, sw_memory_t memory,
                    sw_window_t what, uint64_t bytes, sw_ps_t *call,
                    sw_ps_t *rest);
void sw_accesses_free(sw_accesses_t *accesses);

#endif
