/*
 * sites.h - the call sites in a capture: modules, frames and stacks.
 */
#ifndef SW_PROFILE_CAPTURE_SITES_H
#define SW_PROFILE_CAPTURE_SITES_H

#include "profile/base/blob.h"

void sw_capture_sites(sw_blob_t *text, sw_blob_t *tables, sw_blob_t *columns);

#endif
