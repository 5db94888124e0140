/*
 * op.c - see op.h.
 */
#include "op.h"

const char *const sw_collective_names[SW_COLLECTIVE_COUNT] = {
#define SW_COLLECTIVE(NAME, name, waits) #name,
    SW_COLLECTIVES(SW_COLLECTIVE)
#undef SW_COLLECTIVE
};

const sw_waits_t sw_collective_waits[SW_COLLECTIVE_COUNT] = {
#define SW_COLLECTIVE(NAME, name, waits) SW_WAITS_##waits,
    SW_COLLECTIVES(SW_COLLECTIVE)
#undef SW_COLLECTIVE
};
