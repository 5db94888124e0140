/*
 * collectives.h - MPI's collectives: their numbers, and what the standard says
 * of each. The table is straightway/collectives.py.
 *
 * A list of them is made so, in the order of reports; generate_collectives.py
 * has the columns:
 *
 *     #define SW_COLLECTIVE(NUMBER, NAME, Name, name, WAITS, REDUCES) ...
 *     #include "collectives.inc"
 */
#ifndef SW_CONTRACT_COLLECTIVES_H
#define SW_CONTRACT_COLLECTIVES_H

#include "node/base/base.h"

/* The members that a member of a collective must wait for. */
typedef enum {
    SW_WAITS_ALL,        /* all */
    SW_WAITS_ROOT,       /* the root; it itself for none */
    SW_WAITS_AT_ROOT,    /* the root for all; others for none */
    SW_WAITS_LOWER,      /* those of lower rank */
    SW_WAITS_NEIGHBOURS, /* those that it receives from */
} sw_waits_t;

/* The numbers are those of files: a trace has them plus one. */
typedef enum {
#define SW_COLLECTIVE(NUMBER, NAME, ...) SW_COLL_##NAME = NUMBER,
#include "collectives.inc"
#define SW_COLLECTIVE(...) +1
    SW_COLL_COUNT = 0
#include "collectives.inc"
} sw_collective_t;

/* As in MPI_Name. */
static inline const char *sw_collective_title(sw_collective_t id)
{
    static const char *const titles[SW_COLL_COUNT] = {
#define SW_COLLECTIVE(NUMBER, NAME, Name, ...) [NUMBER] = #Name,
#include "collectives.inc"
    };
    return titles[id];
}

static inline bool sw_collective_reduces(sw_collective_t id)
{
    static const bool reduces[SW_COLL_COUNT] = {
#define SW_COLLECTIVE(NUMBER, NAME, Name, name, WAITS, REDUCES) \
    [NUMBER] = REDUCES,
#include "collectives.inc"
    };
    return reduces[id];
}

static inline bool sw_collective_is_near(sw_collective_t id)
{
    static const uint8_t waits[SW_COLL_COUNT] = {
#define SW_COLLECTIVE(NUMBER, NAME, Name, name, WAITS, REDUCES) \
    [NUMBER] = SW_WAITS_##WAITS,
#include "collectives.inc"
    };
    return waits[id] == SW_WAITS_NEIGHBOURS;
}

#endif
