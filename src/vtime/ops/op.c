/*
 * op.c - see op.h.
 */
#include "op.h"

const char *const sw_collective_names[SW_COLLECTIVE_COUNT] = {
#define SW_OF_ALL(NUMBER, NAME, Name, name, ...) [NUMBER] = #name,
#include "collectives.inc"
    [SW_COLLECTIVE_OTHER] = "other",
    [SW_COLLECTIVE_FENCE] = "fence",
};

const sw_waits_t sw_collective_waits[SW_COLLECTIVE_COUNT] = {
#define SW_OF_ALL(NUMBER, NAME, Name, name, WAITS, ...) \
    [NUMBER] = SW_WAITS_##WAITS,
#include "collectives.inc"
    [SW_COLLECTIVE_OTHER] = SW_WAITS_ALL,
    [SW_COLLECTIVE_FENCE] = SW_WAITS_ALL,
};

const char *const sw_window_names[] = {
    [SW_WINDOW_MAKE] = "make window", [SW_WINDOW_FREE] = "free window",
    [SW_WINDOW_PUT] = "put",          [SW_WINDOW_REDUCE] = "accumulate",
    [SW_WINDOW_GET] = "get",          [SW_WINDOW_FETCH] = "fetch",
    [SW_WINDOW_FLUSH] = "flush",      [SW_WINDOW_LOCK] = "lock",
    [SW_WINDOW_UNLOCK] = "unlock",
};
