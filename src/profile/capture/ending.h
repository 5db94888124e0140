/*
 * ending.h - the profile of a process that does not reach MPI_Finalize.
 *
 * Between sw_ending_watch and sw_ending_done, a process may exit, abort or die
 * of a signal that can be caught. It then adds its block to the job's capture
 * before it goes. Rank 0 says where, or the first rank of its node to go.
 * Signals keep their meaning: the handler that was there before runs
 * afterwards, or the signal takes its default course.
 */
#ifndef SW_PROFILE_CAPTURE_ENDING_H
#define SW_PROFILE_CAPTURE_ENDING_H

#include "capture.h"

SW_API void sw_ending_watch(void);
/* The process writes its capture in the usual way from here on. */
SW_API void sw_ending_done(void);
/* The process ends here, and not by a signal: writes its block. Does nothing
 * before sw_ending_watch, after sw_ending_done, or in a forked child. */
SW_API void sw_ending_now(sw_end_t end);

#endif
