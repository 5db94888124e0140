/*
 * agent.h - the helper thread that works while the program computes.
 *
 * It pushes the schedules that are under way (schedule.h), and calls one
 * function more. It does so again and again while there is something to do or
 * to watch. Else it parks, and costs nothing until it is woken. It knows no
 * MPI, and what it calls must not either: the program's thread level is the
 * program's.
 *
 * An eager agent has a core of its own. Between two calls it pauses for a short
 * while, then takes naps that grow with the time in which nothing happened, up
 * to 1 ms: a receive that stays posted for an hour costs 0.1 % of a core. A
 * lazy one takes naps of 1 ms from the start. It is there for ranks that the
 * program keeps out of our calls, as in a call that the host serves: MPI
 * demands that their collectives go on.
 *
 * It leaves schedules alone that a thread of the program's has pushed since it
 * last looked: data gets into that thread's caches.
 *
 * Parking. The agent stores `parked`, then asks once more. A thread that posts
 * work stores that, then looks at `parked`. A full fence between store and look
 * on either side means that one of them sees the other's store.
 */
#ifndef SW_OFFLOAD_AGENT_H
#define SW_OFFLOAD_AGENT_H

#include "node/base/base.h"

typedef enum {
    SW_AGENT_NOTHING,  /* there is no work: park */
    SW_AGENT_WATCHING, /* there may be some soon, with no wake-up */
    SW_AGENT_WORKED,
} sw_agent_found_t;

/* One more function that it calls, from here on; a few at most. */
SW_API void sw_agent_add(sw_agent_found_t (*work)(void));

/* Is there a thread for it? Makes one, all signals blocked, which sleeps until
 * the agent starts. A process that has told others that it can have an agent
 * then has one, whatever the system refuses later. Any thread may ask. False
 * with errno: the system refuses one. */
SW_API bool sw_agent_reserve(void);

/* Start it, on the processors of the calling thread. `work`: the function, or
 * NULL. False with errno: there is no thread for it. One at a time. */
SW_API bool sw_agent_start(sw_agent_found_t (*work)(void), bool eager);
SW_API bool sw_agent_runs(void);
/* The threads that it has, 0 or 1: it may sleep. */
SW_API int sw_agent_threads(void);

/* Returns when its thread is gone; harmless without one. */
SW_API void sw_agent_stop(void);

/* Work was posted. */
SW_API void sw_agent_wake(void);
/* A schedule has begun: sw_schedules was counted up by an operation that is
 * sequentially consistent, like both sides of the parking here. So it takes no
 * fence. */
SW_API void sw_agent_wake_for_schedules(void);

/* Is there a core for it? `ranks_per_core` as in node/wait.h, processors
 * counted as cores; `threads`: hardware threads in a core. */
static inline bool sw_agent_fits(double ranks_per_core, int threads)
{
    return ranks_per_core * threads <= 0.5;
}

#endif
