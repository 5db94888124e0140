/*
 * arrival.h - Barrier, as a list: it is over when all members have posted.
 */
#ifndef SW_OFFLOAD_ARRIVAL_H
#define SW_OFFLOAD_ARRIVAL_H

#include "list.h"

typedef struct {
    sw_list_t list;
    int seen;                   /* members below have all posted */
} sw_arrival_t;

/* Begins one. a->list began as zeros, and is kept. */
SW_API void sw_arrival_begin(sw_arrival_t *a, sw_slates_t *on);

#endif
