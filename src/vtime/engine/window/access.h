/*
 * access.h - what is under way to windows, and their locks.
 */
#ifndef SW_VTIME_ENGINE_WINDOW_ACCESS_H
#define SW_VTIME_ENGINE_WINDOW_ACCESS_H

#include "vtime/engine/base/state.h"
#include "vtime/engine/base/context.h"

/* What an origin has under way at a target's window, or at all of them. What is
 * not pending is complete at these times. */
typedef struct {
    uint32_t pending, leaving; /* not complete; the origin's memory in use */
    sw_ps_t done, left;
} sw_under_way_t;

struct sw_access {
    sw_access_t *next;     /* of the origin's */
    sw_channel_t *channel; /* from the origin to the target */
    sw_window_of_t *origin;
    sw_under_way_t at;
};

/* An origin's request for a lock at a target member, or its release. */
struct sw_lock {
    sw_lock_t *next;
    sw_context_t *context;
    uint32_t target, origin; /* members */
    bool exclusive;
    sw_request_t *request; /* `order` of it: locks not granted yet */
};

/* A member's part in a window. */
struct sw_window_of {
    bool made, seen;
    bool allocated; /* its memory is the MPI's */
    bool open;      /* in virtual time, too (thread.c) */
    /* As an origin: */
    sw_under_way_t all;
    sw_access_t *accesses;
    sw_request_t *flushes; /* its threads wait in (window.c) */
    uint32_t begun;        /* numbers for its events */
    /* As a target: */
    uint32_t readers;
    bool writer;
    sw_lock_t *first, *last; /* that wait */
};

#endif
