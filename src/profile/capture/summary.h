/*
 * summary.h - some lines about the profile, at the end of the program.
 *
 * Each rank adds up its own records by procedure. Rank 0 adds up the ranks and
 * prints the sums. It reads no file and starts no program, and its work grows
 * with the procedures, not with the records of a rank. Names of call sites and
 * findings take longer, so `straightway report` makes those. Its numbers and
 * these are the same (straightway/profile/resolving.py).
 *
 * A rank's sums travel as rows of one size. Rank 0 can take them in pieces of
 * any number of rows.
 */
#ifndef SW_PROFILE_CAPTURE_SUMMARY_H
#define SW_PROFILE_CAPTURE_SUMMARY_H

#include "profile/base/blob.h"

/* A procedure, or (procedure: SW_JOB_PROCEDURES) the rank, which comes first.
 * Times are ns. */
typedef union {
    struct {
        uint64_t procedure;
        uint64_t calls, errors, time;
        double waiting; /* of `time`, where that is known */
        /* of `time`: no call of it was looked at, nor of the rank's
         * procedure */
        uint64_t unknown;
        uint64_t probed, waited; /* of all calls looked at */
    };
    struct {
        uint64_t mark;
        uint64_t rank, node, wall;
        uint64_t elapsed;       /* of all threads */
        uint64_t communication; /* time in MPI without files */
        uint64_t unused[2];
    } of;
} sw_summary_row_t;
_Static_assert(sizeof(sw_summary_row_t) == 64, "a cache line");

/* This rank's rows. The blob is lost where there is no memory. */
SW_API void sw_summary_make(sw_blob_t *to);

/* On rank 0. */
SW_API void sw_summary_add(const sw_summary_row_t *rows, size_t count);
/* `path`: the capture, as its user sees it. */
SW_API void sw_summary_print(const char *path);

#endif
