/*
 * control.h - acceleration switched on and off while the program runs.
 *
 * Every collective call reads the switch. All members of a communicator must
 * switch at the same point of their sequence of collectives. The benchmark
 * does so, to interleave the host and Straightway in one run.
 *
 * The same switch forces a way on collectives that span nodes
 * (mpi/base/span_way.h), or on messages (mpi/p2p/way.h), for the benchmark.
 */
#ifndef SW_NODE_CONTROL_H
#define SW_NODE_CONTROL_H

#include "node/base/base.h"

/*
 * The states of the switch. UNSERVED: no flavour serves (yet), and there is
 * nothing to switch. When any rank switches to OFF or from it, no message may
 * be under way, and no receive posted, in the whole job. LEADERS and LANES are
 * ON, and force that way on all spans until the next switch; the switch then
 * reads ON. So do TWO_COPY to JOINT on messages: then, too, no message may be
 * under way.
 */
enum {
    SW_ACCELERATE_UNSERVED = -1,
    SW_ACCELERATE_OFF,
    SW_ACCELERATE_ON,
    SW_ACCELERATE_LEADERS,
    SW_ACCELERATE_LANES,
    SW_ACCELERATE_TWO_COPY,
    SW_ACCELERATE_CMA,
    SW_ACCELERATE_ONE_COPY,
    SW_ACCELERATE_JOINT
};
SW_API extern _Atomic int sw_accelerate_switch;

/* The way that all spans must take; AUTO: each asks its table. Reads
 * STRAIGHTWAY_SPAN_WAY, except while the switch forces another. */
enum { SW_FORCE_AUTO, SW_FORCE_HOST, SW_FORCE_LEADERS, SW_FORCE_LANES };
SW_API extern _Atomic int sw_forced_way;

/* Sets sw_forced_way as the setting says. */
void sw_control_load(void);

/* sw_control_accelerate calls this when another way of messages begins: OFF,
 * TWO_COPY to JOINT, or ON for their own. May be NULL. */
SW_API extern void (*sw_control_messages)(int state);

/* Switches to a state; a negative one changes nothing. Returns the state
 * before. */
int sw_control_accelerate(int state);

static inline bool sw_control_accelerating(void)
{
    return atomic_load_explicit(&sw_accelerate_switch, memory_order_relaxed) ==
           SW_ACCELERATE_ON;
}

#endif
