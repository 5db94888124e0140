/*
 * ending.h - the profile of a process that does not reach MPI_Finalize.
 *
 * Between sw_ending_watch and sw_ending_done, a process may exit, abort, become
 * another program, or die of a signal that can be caught. It then adds its
 * block to the job's capture before it goes, and says where that is.
 * Signals keep their meaning: the handler that was there before runs
 * afterwards, or the signal takes its default course.
 */
#ifndef SW_PROFILE_CAPTURE_ENDING_H
#define SW_PROFILE_CAPTURE_ENDING_H

#include "capture.h"

/* Called at each signal, before all else. NULL: nothing is. */
SW_API extern void (*sw_ending_first)(int signal);

SW_API void sw_ending_watch(void);
/* The process writes its capture in the usual way from here on. */
SW_API void sw_ending_done(void);
/* Is it between the two, and not ended? Not in a forked child. */
SW_API bool sw_ending_is_watched(void);
/* The process ends here, and not by a signal: writes its block. Does nothing
 * before sw_ending_watch, after sw_ending_done, or in a forked child. */
SW_API void sw_ending_now(sw_end_t end);

#endif
