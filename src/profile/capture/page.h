/*
 * page.h - a page about the capture, when the program has ended.
 *
 * Rank 0 starts `straightway report --finish FILE` and waits for it. The
 * command adds the names of call sites to the file, if the program's files are
 * at hand, and prints a page on stderr. Without the command, one line tells
 * where the file is. The page names the file as seen from the folder in which
 * the process began: the program may have gone elsewhere since, its user not.
 */
#ifndef SW_PROFILE_CAPTURE_PAGE_H
#define SW_PROFILE_CAPTURE_PAGE_H

#include "node/base/base.h"

/* When the process begins: notes the command and the folder. */
SW_API void sw_profile_page_prepare(void);
SW_API void sw_profile_page(void);

#endif
