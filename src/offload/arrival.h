/*
 * arrival.h - Barrier, as a schedule: it is over when all members have posted.
 */
#ifndef SW_OFFLOAD_ARRIVAL_H
#define SW_OFFLOAD_ARRIVAL_H

#include "schedule.h"

typedef struct {
    sw_schedule_t schedule;
    int seen; /* members below have all posted */
} sw_arrival_t;

/* Begins one. a->schedule began as zeros, and is kept. */
SW_API void sw_arrival_begin(sw_arrival_t *a, sw_slates_t *on);

#endif
