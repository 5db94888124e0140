/*
 * batch.h - the requests of one call that completes several.
 *
 * Where no request has a shadow, the host serves. Else its procedures are asked
 * in turns with our progress, and each kind finishes what is over. Requests of
 * ours are kept from the host, which would call them complete: MPI_Waitall
 * comes to them in its turn, the others ask for a copy of the array with
 * MPI_REQUEST_NULL in their place.
 *
 * Programs wait for one of thousands, thousands of times. So where the host has
 * no part in any of them, nothing is claimed, held or copied but what is over
 * (sw_batch_see).
 */
#ifndef SW_MPI_REQUEST_BATCH_H
#define SW_MPI_REQUEST_BATCH_H

#include "complete.h"

#define SW_BATCH_FEW 16

typedef struct {
    int n;
    MPI_Request *requests;
    MPI_Status *statuses; /* never ignored: the program's, or our own */
    sw_shadow_t **shadow; /* [n], NULL where it is the host's alone */
    MPI_Request *asked;   /* [n], what the host is asked */
    int *indices;         /* of those that MPI_Waitsome completes */
    int first;            /* MPI_Waitall: those before it are done */
    int done;             /* the index, or how many */
    void *room;
    sw_shadow_t *few_shadows[SW_BATCH_FEW];
    MPI_Request few_asked[SW_BATCH_FEW];
    MPI_Status few_statuses[SW_BATCH_FEW];
    int few_indices[SW_BATCH_FEW];
} sw_batch_t;

/* Claim the shadows of these requests, and give them back. `indices` may be
 * NULL. */
void sw_batch_take(sw_batch_t *b, int n, MPI_Request *requests, int *indices,
                   MPI_Status *statuses);
void sw_batch_back(sw_batch_t *b);

/* Hold n of the shadows, from `first` on. */
void sw_batch_hold(const sw_batch_t *b, int first, int n);
void sw_batch_let_go(const sw_batch_t *b, int first, int n);

/* What a look at a request finds. */
typedef enum {
    SW_BATCH_OPEN, /* it is ours, and not over */
    SW_BATCH_ASK,  /* it is the host's */
    SW_BATCH_OVER, /* it is ours, and over */
} sw_batch_found_t;

static inline sw_batch_found_t sw_batch_look(const sw_batch_t *b, int i)
{
    sw_shadow_t *s = b->shadow[i];
    if (!s || !s->active)
        return SW_BATCH_ASK;
    s->ended = s->kind->over ? s->kind->over(s) : s->kind->ready(s);
    return s->ended ? SW_BATCH_OVER : SW_BATCH_OPEN;
}

/* Those that a turn has found open. */
typedef struct {
    int n, without_host; /* without: it has no part in them */
} sw_batch_open_t;

static inline void sw_batch_count_open(const sw_batch_t *b, int i,
                                       sw_batch_open_t *open)
{
    open->n++;
    open->without_host += b->shadow[i]->kind->over != NULL;
}
static inline void sw_batch_poke(const sw_batch_open_t *open)
{
    if (open->n)
        sw_shadow_poke(open->n == open->without_host);
}

/* Of one of ours that is over: finish it, as below, with this status. */
void sw_batch_take_over(sw_batch_t *b, int i, MPI_Status *status, int as,
                        int *rc);

/* The host has completed request i: see sw_shadow_conclude. */
int sw_batch_conclude(sw_batch_t *b, int i, MPI_Status *status, int as,
                      int *rc);

/* What a short look at a request finds, without a batch. */
typedef enum {
    SW_SEEN_NULL,
    SW_SEEN_OPEN,
    SW_SEEN_OVER,  /* sw_batch_end completes it */
    SW_SEEN_OTHER, /* the host may have a part in it */
} sw_batch_seen_t;

static inline sw_batch_seen_t sw_batch_see(MPI_Request request,
                                           sw_shadow_t **found)
{
    if (request == MPI_REQUEST_NULL)
        return SW_SEEN_NULL;
    sw_shadow_t *s = sw_shadow_of(request);
    if (!s || !s->active || !s->kind->over)
        return SW_SEEN_OTHER;
    *found = s;
    sw_shadow_hold(s);
    bool over = s->kind->over(s);
    sw_shadow_let_go(s);
    return over ? SW_SEEN_OVER : SW_SEEN_OPEN;
}

/* Finishes one that is over; the rest as in sw_shadow_conclude. */
void sw_batch_end(sw_shadow_t *s, MPI_Request *request, MPI_Status *status,
                  int as, int *rc);

/* Take turns with our progress: one, or, in a blocking call, until one is the
 * last. */
typedef int sw_batch_turn_t(sw_batch_t *b, bool *over);
int sw_batch_serve(sw_batch_t *b, sw_batch_turn_t *turn, bool blocking,
                   bool *over);

/* sw_idle, in a wait for one of them. */
void sw_batch_idle(sw_idle_t *idle, int n, const MPI_Request *requests);

/* Ends the program when out of memory. */
void *sw_batch_room(int n, size_t each);

/* Hosts write MPI_ERROR only where there are errors. */
static inline void sw_batch_no_errors(MPI_Status *statuses, int n)
{
    for (int i = 0; i < n; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
}

static inline bool sw_batch_statuses_ignored(const MPI_Status *statuses)
{
    return statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE;
}

/* Are the requests of a call asked in turns with our progress? */
static inline bool sw_batch_serves(int n, const MPI_Request *requests)
{
    return sw_any_shadows() && n > 0 && requests && !sw_plain_requests();
}

/* The same of a call that waits. */
static inline bool sw_batch_waits(int n, const MPI_Request *requests)
{
    return sw_batch_serves(n, requests) || (sw_patience() && n > 0 && requests);
}

#endif
