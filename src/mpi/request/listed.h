/*
 * listed.h - requests whose work is a list of ours (offload/list.h).
 *
 * The request is one of the host's that is never started: a persistent
 * receive from this rank itself. Every procedure in any language takes it.
 * (Intel MPI takes one from MPI_PROC_NULL for complete, though it is inactive.)
 * The host is never asked for it. When the program has completed the request,
 * the handle waits with its track for the next.
 *
 * A kind of such requests begins with the structure below, and has these
 * functions in its table (track.h).
 */
#ifndef SW_MPI_REQUEST_LISTED_H
#define SW_MPI_REQUEST_LISTED_H

#include "offload/list.h"
#include "track.h"

typedef struct {
    sw_track_t track;
    sw_list_t *list;            /* of this use                              */
    MPI_Request request;        /* kept from use to use, if `made`          */
    bool made;
} sw_listed_t;

bool sw_listed_ready(sw_track_t *t);
bool sw_listed_over(sw_track_t *t);
sw_doorbell_t *sw_listed_bell(sw_track_t *t);
int sw_listed_peek(sw_track_t *t, MPI_Status *status);      /* empty */
void sw_listed_free(sw_track_t *t);
int sw_listed_cancel(sw_track_t *t);
/* What all kinds have. */
#define SW_LISTED_KIND                                                  \
    .over = sw_listed_over, .bell = sw_listed_bell,                     \
    .free = sw_listed_free,                                             \
    .cancel = sw_listed_cancel

/* Makes the request, unless it is made, and is the handle. */
void sw_listed_request(sw_listed_t *l);
/* Its list has begun: it goes on, wherever the program goes. */
void sw_listed_set_out(sw_listed_t *l);
/* A helper thread works for this rank from here on. */
void sw_listed_watch(void);
void sw_listed_owe(sw_listed_t *l);
/* At the end of the job: the requests of a kind that no call uses. */
void sw_listed_stop(sw_track_t *spare);

#endif
