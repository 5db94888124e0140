/*
 * scheduled.h - requests whose work is a schedule of ours (offload/schedule.h).
 *
 * The request is one of the host's that is never started: a persistent
 * receive from this rank itself. Every procedure in any language takes it.
 * (Intel MPI takes one from MPI_PROC_NULL for complete, though it is inactive.)
 * The host is never asked for it. When the program has completed the request,
 * the handle waits with its shadow for the next.
 *
 * A kind of such requests begins with the structure below, and has these
 * functions in its table (shadow.h).
 */
#ifndef SW_MPI_REQUEST_SCHEDULED_H
#define SW_MPI_REQUEST_SCHEDULED_H

#include "offload/schedule.h"
#include "shadow.h"

typedef struct {
    sw_shadow_t shadow;
    sw_schedule_t *schedule; /* of this use */
    MPI_Request request;     /* kept from use to use, if `made` */
    bool made;
} sw_scheduled_t;

bool sw_scheduled_ready(sw_shadow_t *shadow);
bool sw_scheduled_over(sw_shadow_t *shadow);
sw_doorbell_t *sw_scheduled_bell(sw_shadow_t *shadow);
int sw_scheduled_peek(sw_shadow_t *shadow, MPI_Status *status); /* empty */
void sw_scheduled_free(sw_shadow_t *shadow);
int sw_scheduled_cancel(sw_shadow_t *shadow);
/* What all kinds have. */
#define SW_SCHEDULED_KIND                                 \
    .over = sw_scheduled_over, .bell = sw_scheduled_bell, \
    .free = sw_scheduled_free, .cancel = sw_scheduled_cancel

/* Makes the request, unless it is made, and is the handle. */
void sw_scheduled_request(sw_scheduled_t *s);
/* Its schedule has begun: it goes on, wherever the program goes. */
void sw_scheduled_set_out(sw_scheduled_t *s);
/* A helper thread works for this rank from here on. */
void sw_scheduled_watch(void);
void sw_scheduled_owe(sw_scheduled_t *s);
/* At the end of the job: the requests of a kind that no call uses. */
void sw_scheduled_stop(sw_shadow_t *spare);

#endif
