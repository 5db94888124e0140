/*
 * access.h - one access to a target's memory: what the calls that move data
 * share.
 */
#ifndef SW_MPI_RMA_ACCESS_H
#define SW_MPI_RMA_ACCESS_H

#include "window.h"

/* `count` elements of `type` in a target's memory. */
typedef struct {
    char *at; /* the first one */
    int64_t count;
    const sw_datatype_t *type;
    size_t bytes; /* of data */
    /* else NULL: `at` is an address of this process; see far.h */
    const sw_peer_t *far;
    size_t before, span; /* from the lowest byte to `at`, and in all */
} sw_access_t;

/* Find them. False: the host is to judge (a wrong rank, datatype or count, no
 * epoch). Where they lie outside the window that error is raised: *result is
 * what the call returns, and there are no bytes. */
bool sw_access(const sw_win_t *w, int target, int64_t disp, int64_t count,
               MPI_Datatype type, sw_access_t *to, int *result);

/* A datatype that the host takes; NULL: it is to judge. */
static inline const sw_datatype_t *sw_access_type(MPI_Datatype type)
{
    int code;
    const sw_datatype_t *d = sw_datatype_cached(type);
    return sw_likely(d)
               ? d
               : sw_datatype(type, sw_datatype_comm(MPI_COMM_WORLD), &code);
}

#endif
