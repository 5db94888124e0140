/*
 * page.h - what a user reads about the profile when the program has ended.
 *
 * Rank 0 prints the lines of summary.h. With STRAIGHTWAY_PROFILE_PAGE it starts
 * `straightway report --finish FILE` instead and waits for it: the command adds
 * the names of call sites to the file, if the program's files are at hand, and
 * prints a page. Where that fails, the lines are there all the same.
 * A trace in pieces is joined by the same command.
 *
 * Both name the file as seen from the folder in which the process began: the
 * program may have gone elsewhere since, its user not.
 */
#ifndef SW_PROFILE_CAPTURE_PAGE_H
#define SW_PROFILE_CAPTURE_PAGE_H

#include "node/base/base.h"

/* When the process begins: notes the command and the folder. */
SW_API void sw_profile_page_prepare(void);
/* On rank 0, once sw_summary_add has every rank's rows. */
SW_API void sw_profile_page(void);

#endif
