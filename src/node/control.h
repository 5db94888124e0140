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

/*
 * The states of the switch. UNSERVED: no flavour serves (yet), and there is
 * nothing to switch. ALONE is for benchmarks: off, and the library does not
 * even look at receives that complete, which it does while it is merely OFF
 * (a message may have been sent before). When any rank switches to ALONE or
 * from it, no message may be under way, and no receive posted, in the whole
 * job.
 */
enum {
    SW_ACCELERATE_UNSERVED = -1,
    SW_ACCELERATE_OFF,
    SW_ACCELERATE_ON,
    SW_ACCELERATE_ALONE
};
SW_API extern _Atomic int sw_accelerate_switch;

/* Called when the host is to be alone, and when it is no more. May be NULL. */
SW_API extern void (*sw_control_alone)(bool alone);

/* Switch; a negative state only asks. Returns the state before. */
int sw_accelerate_to(int state);

static inline bool sw_accelerating(void)
{
    return atomic_load_explicit(&sw_accelerate_switch,
                                memory_order_relaxed) == SW_ACCELERATE_ON;
}

#endif
