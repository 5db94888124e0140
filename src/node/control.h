/*
 * control.h - acceleration switched on and off while the program runs.
 *
 * The switch is read at every collective call; all members of a communicator
 * must switch at the same point of their sequence of collectives (the
 * benchmark does, to interleave the host and us in one run).
 */
#ifndef SW_NODE_CONTROL_H
#define SW_NODE_CONTROL_H

#include "node/base/base.h"

/* 1 on, 0 off, STRAIGHTWAY_ALONE, -1: no flavour serves (yet), there is
 * nothing to switch. */
SW_API extern _Atomic int sw_accelerate_switch;

/* Called when the host is to be alone, and when it is no more. May be NULL. */
SW_API extern void (*sw_control_alone)(bool alone);

static inline bool sw_accelerating(void)
{
    return atomic_load_explicit(&sw_accelerate_switch,
                                memory_order_relaxed) == 1;
}

#endif
