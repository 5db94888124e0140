/*
 * capture.h - the profile of this process as a block of a capture file.
 *
 * docs/capture-format.md says what is in it. Everything here is safe in a
 * signal handler: no heap, no lock, no stdio.
 */
#ifndef SW_PROFILE_CAPTURE_CAPTURE_H
#define SW_PROFILE_CAPTURE_CAPTURE_H

#include "profile/base/blob.h"
#include "profile/base/capture_file.h"

/* How the process came to its end. */
typedef enum {
    SW_END_FINALIZE,
    SW_END_ABORT,
    SW_END_EXIT,
    SW_END_SIGNAL,
    SW_END_EXEC,
} sw_end_t;

/* This process's block. False: the system has no memory. To be freed. */
SW_API bool sw_capture_block(sw_end_t end, int signal, sw_blob_t *to);

#endif
