/*
 * control.h - acceleration switched on and off while the program runs.
 *
 * Every collective call reads the switch. All members of a communicator must
 * switch at the same point of their sequence of collectives. The benchmark
 * does so, to interleave the host and Straightway in one run.
 */
#ifndef SW_NODE_CONTROL_H
#define SW_NODE_CONTROL_H

#include "node/base/base.h"

/*
 * The states of the switch. UNSERVED: no flavour serves (yet), and there is
 * nothing to switch. OFF: the library still looks at each receive that
 * completes, because a peer may have sent the message before. ALONE is for
 * benchmarks: the library is off, and does not look at receives either. When
 * any rank switches to ALONE or from it, no message may be under way, and no
 * receive posted, in the whole job.
 */
enum {
    SW_ACCELERATE_UNSERVED = -1,
    SW_ACCELERATE_OFF,
    SW_ACCELERATE_ON,
    SW_ACCELERATE_ALONE
};
SW_API extern _Atomic int sw_accelerate_switch;

/* sw_accelerate_to calls this when the switch enters or leaves ALONE. May be
 * NULL. */
SW_API extern void (*sw_control_alone)(bool alone);

/* Switches to a state; a negative one changes nothing. Returns the state
 * before. */
int sw_accelerate_to(int state);

static inline bool sw_accelerating(void)
{
    return atomic_load_explicit(&sw_accelerate_switch,
                                memory_order_relaxed) == SW_ACCELERATE_ON;
}

#endif
