/*
 * plan.h - when the sides change: what rank 0 decides for all.
 *
 * The ranks count their blocking collectives alike, and *meet* at some of them:
 * a small reduction tells all what rank 0 wants (sw_wish_t), and whether any
 * message is under way. An *epoch* is the time between two meetings at which
 * rank 0 wants one to end. Two neighbouring epochs, one of each side, are a
 * pair. They have the same number of calls, whole periods of the program.
 *
 * At first rank 0 learns the period, on our side. Then epochs take at least
 * 50 ms, and a 2,000th of the time so far, so that a day has some ten thousand.
 * Which side a pair begins with is drawn at random: what comes every tenth step
 * meets both alike.
 *
 * Where messages change sides, too, an epoch ends only where none is under way.
 * Rank 0 tries one call after another, until it finds such a place in the
 * period. Epochs begin there from then on.
 */
#ifndef SW_TURNS_PLAN_H
#define SW_TURNS_PLAN_H

#include "period.h"

enum { SW_SIDE_HOST, SW_SIDE_OURS };

/* What messages do: keep their side; change with the collectives; keep it, but
 * come back to our side where none is under way. */
enum { SW_MESSAGES_STAY, SW_MESSAGES_TURN, SW_MESSAGES_HOME };

/* Of an epoch: before the turns began; it did not end where it began in the
 * period. */
enum { SW_EPOCH_LEARNS = 1, SW_EPOCH_UNEVEN = 2 };

#define SW_NO_PAIR (-1)

/* Sums of one rank's numbers and the zeros of all others. */
typedef struct {
    int64_t ends;        /* the epoch ends here, if messages allow it */
    int64_t side;        /* then this one follows */
    int64_t pair, flags; /* of the epoch that ends */
    int64_t next;        /* calls to the next meeting if it ends, */
    int64_t again;       /* and if not */
    int64_t messages;    /* SW_MESSAGES_... */
} sw_wish_t;

/* What has become of it. */
typedef struct {
    bool ended;
    bool refused; /* it was to end, but messages were under way */
    bool quiet;   /* none was */
    bool never;   /* it cannot be told whether any is, now or later */
} sw_met_t;

typedef struct {
    bool learns;
    bool second; /* of its pair */
    int64_t pair;
    int side;
    uint32_t call;           /* at which it began */
    uint64_t first, planned; /* that call's number; calls */
    uint64_t began;          /* ns */
} sw_epoch_t;

typedef struct {
    sw_calls_t calls;
    uint64_t random, shortest;
    uint64_t began; /* ns: when the first call came; 0: none did */
    uint32_t period;
    sw_epoch_t now, next;
    double call_time; /* ns, of the latest epoch's calls */
    int64_t pairs;
    int messages;
    bool found;     /* a place without messages under way */
    unsigned tries; /* in vain, to end this epoch */
} sw_plan_t;

/* `seed` is not 0. `messages`: SW_MESSAGES_TURN, if they may. `shortest`: ns of
 * an epoch, at least. */
SW_API void sw_plan_start(sw_plan_t *p, uint64_t seed, int messages,
                          uint64_t shortest);
/* One more call; `now` in ns is looked at for the first one. */
SW_API void sw_plan_call(sw_plan_t *p, uint32_t call, uint64_t now);
/* At a meeting, before and after. */
SW_API sw_wish_t sw_plan_wish(sw_plan_t *p, uint64_t now);
SW_API void sw_plan_met(sw_plan_t *p, sw_met_t met, uint64_t now);

#endif
