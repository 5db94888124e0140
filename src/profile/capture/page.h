/*
 * page.h - a page about the capture, when the program has ended.
 *
 * Rank 0 starts `straightway report --finish FILE` and waits for it. The
 * command adds the names of call sites to the file, if the program's files are
 * at hand, and prints a page on stderr. Without the command, one line tells
 * where the file is.
 */
#ifndef SW_PROFILE_CAPTURE_PAGE_H
#define SW_PROFILE_CAPTURE_PAGE_H

#include "node/base/base.h"

SW_API void sw_profile_page(void);

#endif
