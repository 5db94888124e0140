/*
 * later.h - looks for a receiver's stamp that come too early.
 *
 * A receive from any source, or with any tag, tells whose message it takes only
 * when it is over. Its process then posts the stamp, with the time at which it
 * posted the receive. The sender's call may be over before. So a sender that
 * finds no stamp notes the look, and looks again in later calls, each time
 * after twice as long. What it finds is added to the record of its call: the
 * receiver came while the call was under way. A stamp from after the call says
 * that the call did not wait for it, and so does none.
 *
 * A look is for a call that was sampled, so there are few. A ring has the last
 * ones; an older one that found nothing is forgotten. All of it is the thread's
 * own, until the profile ends.
 */
#ifndef SW_PROFILE_RECORD_LATER_H
#define SW_PROFILE_RECORD_LATER_H

#include "board.h"
#include "record.h"

#define SW_LATER_CALLS 8u
#define SW_LATER_LOOKS 8u /* of one call, which may complete many sends */

typedef struct {
    const sw_board_t *board;
    uint64_t key;
} sw_later_look_t;

typedef struct {
    sw_record_t *record; /* NULL: the entry is free, or under way */
    uint64_t seen;       /* ticks: until then, waiting is counted */
    uint64_t end;        /* ticks of the call's end */
    uint64_t next;       /* ticks: look again then */
    double weight;       /* what the call stands for, by its time */
    uint32_t count;
    sw_later_look_t look[SW_LATER_LOOKS];
} sw_later_call_t;

typedef struct {
    uint64_t due; /* ticks of the next look; 0: none */
    uint32_t at;  /* the entry of the call under way */
    sw_later_call_t call[SW_LATER_CALLS];
} sw_later_t;

/* The call under way has looked for a stamp in vain. */
SW_API void sw_later_note(sw_later_t *later, const sw_board_t *board,
                          uint64_t key);
/* The call under way is over, and its looks stay. NULL for `record`: they go.
 * `seen`: the latest stamp of others that it has found, or its beginning. */
SW_API void sw_later_keep(sw_later_t *later, sw_record_t *record, uint64_t seen,
                          uint64_t end, double weight);
/* Look again for all that is due at `now`; for all at UINT64_MAX. */
SW_API void sw_later_look(sw_later_t *later, uint64_t now);

#endif
