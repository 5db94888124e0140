/*
 * waits.h - sleeps, and waits with a time limit, as the program calls them; see
 * clocks.h.
 */
#ifndef SW_FRONT_CLOCK_WAITS_H
#define SW_FRONT_CLOCK_WAITS_H

/* In the library's constructor: whose functions come after ours. */
void sw_waits_look_up(void);

#endif
