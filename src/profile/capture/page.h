/*
 * page.h - a page about the capture, when the program has ended.
 *
 * Rank 0 starts `straightway report --finish FILE` and waits for it: names of
 * call sites are added to the file where the program's files are at hand, and
 * a page is printed on stderr. Without the command, one line tells where the
 * file is.
 */
#ifndef SW_PROFILE_CAPTURE_PAGE_H
#define SW_PROFILE_CAPTURE_PAGE_H

#include "node/base/base.h"

SW_API void sw_profile_page(void);

#endif
