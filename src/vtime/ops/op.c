/*
 * op.c - see op.h.
 */
#include "op.h"

const char *const sw_collective_names[SW_COLLECTIVE_COUNT] = {
#define X(NAME, name, waits) #name,
    SW_OP_COLLECTIVES(X)
#undef X
};

const sw_waits_t sw_collective_waits[SW_COLLECTIVE_COUNT] = {
#define X(NAME, name, waits) SW_WAITS_##waits,
    SW_OP_COLLECTIVES(X)
#undef X
};

const char *const sw_window_names[] = {
    [SW_WINDOW_MAKE] = "make window", [SW_WINDOW_FREE] = "free window",
    [SW_WINDOW_PUT] = "put", [SW_WINDOW_REDUCE] = "accumulate",
    [SW_WINDOW_GET] = "get", [SW_WINDOW_FETCH] = "fetch",
    [SW_WINDOW_FLUSH] = "flush", [SW_WINDOW_LOCK] = "lock",
    [SW_WINDOW_UNLOCK] = "unlock",
};
