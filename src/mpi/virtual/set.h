/*
 * set.h - the requests of one call that completes requests, or asks whether
 * they are complete.
 *
 * A set has the works that are known of them, taken so that no other call finds
 * them meanwhile:
 *
 *     sw_set_take         (set.c)
 *     which of them?      the engine's choice, or the host's (choice.c)
 *     sw_set_ended        of each that the host has completed
 *     sw_set_back
 */
#ifndef SW_MPI_VIRTUAL_SET_H
#define SW_MPI_VIRTUAL_SET_H

#include "virtual.h"

#define SW_SET_FEW 16
/* Tries that the host has to complete what is complete in virtual time. Where
 * receives with wildcards have met other messages in the host, that may take
 * until the program has gone on. */
#define SW_SET_TRIES 200

typedef struct {
    int n;
    MPI_Request *requests;
    sw_work_t **work; /* [n]; NULL: nothing, or not known */
    int *listed;      /* [n] their places, as the engine counts */
    int active;       /* works under way */
    int done;         /* of them, those of no more interest */
    /* requests that are not known, or may be cancelled: the host decides */
    bool strangers;
    sw_work_t *few[SW_SET_FEW];
    int few_listed[SW_SET_FEW];
    void *many;
} sw_set_t;

/* False: no memory. */
bool sw_set_take(sw_set_t *s, int n, MPI_Request *requests);
void sw_set_back(sw_set_t *s);
/* The host has completed request i. `waited`: the engine knows that it is
 * over. */
void sw_set_ended(sw_set_t *s, int i, const MPI_Status *status, bool waited);
/* The program's statuses, or our own in `room`, which the caller frees: where
 * the program wants none, and wildcards or cancelling make us look at them. */
MPI_Status *sw_set_statuses(const sw_set_t *s, MPI_Status *statuses,
                            void **room);
/* The host's MPI_Testall, for requests of these works. */
int sw_works_test_all(int n, MPI_Request *requests, sw_work_t *const *works,
                      int *flag, MPI_Status *statuses);
/* The same, again and again, of what is complete in virtual time. */
int sw_works_try_all(int n, MPI_Request *requests, sw_work_t *const *works,
                     int *flag, MPI_Status *statuses);

/* Choice (choice.c) -------------------------------------------------------- */

/* Is it for the host to decide? */
bool sw_set_hosts(const sw_set_t *s);
/* Ask about all of the set that are under way and not done. False: there is no
 * engine any more. */
bool sw_set_ask(sw_set_t *s, sw_select_t what, sw_op_answer_t *answer);
/* The same, where the answer may be no, and may still be. */
bool sw_set_ask_again(sw_set_t *s, sw_select_t what, sw_op_answer_t *answer);

/* Request i is complete in virtual time: really, too? */
bool sw_set_come(sw_set_t *s, int i, MPI_Status *status, int *rc);
/* One that was complete in virtual time before, and now really; -1: none. */
int sw_set_come_late(sw_set_t *s, MPI_Status *status, int *rc);
/* Of those that were complete in virtual time before, the ones that now are so
 * really; as the host's Testsome does it. */
int sw_set_some_late(sw_set_t *s, int *count, int *indices,
                     MPI_Status *statuses);
/* Those of an answer. How many; -1: there is no engine. */
int sw_set_chosen(sw_set_t *s, sw_select_t what, int *indices);
/* Those in `indices` are complete in virtual time: really, too, and as the
 * host's Testsome does it, which sets the count. */
int sw_set_complete_some(sw_set_t *s, int *count_to, int *indices,
                         MPI_Status *statuses);

/* What the host has completed by its own choice. */
void sw_set_host_completed(sw_set_t *s, int i, const MPI_Status *status);
/* MPI_Waitsome or MPI_Testsome, by the host's choice. */
int sw_set_some_by_host(sw_set_t *s, bool waits, int *count, int *indices,
                        MPI_Status *statuses);
/* Persistent sends whose data have gone from aside (detach.c). The host takes
 * no notice of them in calls that complete one of several. So such a call must
 * not ask the host while there is one: that one is complete. -1: none, from `i`
 * on. */
int sw_set_next_idle(const sw_set_t *s, int i);
int sw_set_complete_idle(sw_set_t *s, int i, MPI_Status *status);

#endif
