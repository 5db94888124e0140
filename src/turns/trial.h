/*
 * trial.h - the host or we: which is faster for calls that are alike.
 *
 * Now and then some calls go to either side, in pairs whose order is drawn, and
 * are timed. A call takes from the last rank's arrival to the last one's end:
 * waiting for a rank that comes late is no side's time. So all ranks put
 * together when they came and went, and settle. All ranks make these calls
 * alike, so each finds the same side for each by counting. What is settled
 * holds longer each time.
 *
 * The ranks' clocks must be one, as they are on a node.
 */
#ifndef SW_TURNS_TRIAL_H
#define SW_TURNS_TRIAL_H

#include "plan.h"

enum { SW_TRIAL_PAIRS = 8 };

/* ns, by side; of a rank, or the latest of all ranks. */
typedef struct {
    int64_t began[2][SW_TRIAL_PAIRS], ended[2][SW_TRIAL_PAIRS];
} sw_stamps_t;
enum { SW_STAMPS = sizeof(sw_stamps_t) / sizeof(int64_t) };

typedef struct {
    uint64_t calls;  /* so far */
    uint64_t begins; /* the trial's first call; 0: none was begun */
    uint64_t pause;  /* calls from one trial to the next */
    int side;        /* what is settled */
    int given;       /* the latest call's side */
    sw_stamps_t stamps;
} sw_trial_t;

/* All is 0 at first. Before each call: is it time to settle, with the latest
 * stamps of all ranks? Then which side serves the call, and whether the ranks
 * time it. The first trial begins after `first` calls, at least one. */
SW_API bool sw_trial_is_due(const sw_trial_t *t);
SW_API void sw_trial_settle(sw_trial_t *t, const sw_stamps_t *latest);
SW_API int sw_trial_call(sw_trial_t *t, uint64_t first, bool *timed);
/* That call, which is timed, begins or has ended: ns. */
SW_API void sw_trial_began(sw_trial_t *t, uint64_t now);
SW_API void sw_trial_ended(sw_trial_t *t, uint64_t now);

#endif
