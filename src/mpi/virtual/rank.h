/*
 * rank.h - what the files of virtual time know of their rank: its feed, and a
 * clock for each thread that calls MPI at once with others (threads.c), one for
 * the rank where none do.
 *
 * A clock is what the engine has said last, and what has been computed since:
 *
 *     answered   computed / cpu_speed   tested   passed
 *     |----------|----------------------|--------|----------> now
 *                kept until the next operation is put
 */
#ifndef SW_MPI_VIRTUAL_RANK_H
#define SW_MPI_VIRTUAL_RANK_H

#include "virtual.h"

#define SW_VIRTUAL_QUESTIONS 16u /* whose answers are known */

typedef struct sw_virtual_clock {
    uint32_t number; /* of the thread */
    _Atomic bool used;
    bool fresh;             /* has put nothing yet */
    bool slept;             /* since it put the last */
    bool polls_told;        /* see sw_virtual_in_host */
    _Atomic bool calls;     /* is in a call */
    _Atomic int32_t puts;   /* in it, from the first that may wait on */
    uint64_t waits;         /* sw_os_waits when it left */
    int64_t computed;       /* ps, not put yet */
    sw_ps_t tested;         /* of tests in vain, too */
    bool known;             /* nothing put since... */
    sw_ps_t answered;       /* ... the engine said this */
    sw_ps_t last;           /* that the program was told */
    _Atomic sw_ps_t passed; /* asleep, not put yet */
    _Atomic sw_ps_t napped; /* since the last poll */
    uint64_t sleeps;        /* ns; all since then */
    sw_ps_t latest;         /* that is known of it */
    struct {
        uint64_t key;  /* what it did not find, */
        sw_ps_t until; /* and will not before */
    } question[SW_VIRTUAL_QUESTIONS];
    uint32_t questions, next_question;
    uint32_t polls;          /* in vain, one after the other */
    sw_ps_t polling, polled; /* so long; until */
    int64_t polled_at;       /* of processor time, ps */
} sw_virtual_clock_t;

typedef struct {
    pthread_mutex_t lock;
    sw_feed_t *feed;
    uint32_t current;  /* the thread whose operations are put */
    uint32_t threads;  /* numbers given so far */
    pthread_key_t key; /* threads end */
    _Atomic uint64_t unmodelled;
    _Atomic sw_ps_t latest;   /* that anybody knows */
    _Atomic uint64_t ended;   /* ns, real time: it is over */
    _Atomic uint32_t section; /* to be put, and 1; 0: none */
    uint32_t sections;        /* regions that the engine knows */
    double native;            /* the host's clock when virtual time ended */
} sw_virtual_rank_t;

extern sw_virtual_rank_t sw_virtual_rank __attribute__((visibility("hidden")));

/* By thread; without threads the first is the rank's. */
extern sw_virtual_clock_t sw_virtual_clocks[SW_FEED_THREADS]
    __attribute__((visibility("hidden")));

/* Threads (threads.c) ------------------------------------------------------ */

void sw_virtual_threads_start(void);
/* For a thread that has none. */
sw_virtual_clock_t *sw_virtual_new_clock(void);

/* The calling thread's, or the rank's. */
static inline sw_virtual_clock_t *sw_virtual_mine(void)
{
    if (sw_likely(!sw_virtual_shared))
        return &sw_virtual_clocks[0];
    return sw_virtual_thread.clock ? sw_virtual_thread.clock
                                   : sw_virtual_new_clock();
}

/* What is put now is this thread's. False: there is no engine any more; so it
 * is below. */
bool sw_virtual_put_thread(sw_virtual_clock_t *c);

/* On the feed, and nothing before it. */
static inline bool sw_virtual_put_only(const sw_vop_t *op)
{
    return sw_feed_put(sw_virtual_rank.feed, op);
}

/* The clock (virtual.c) ---------------------------------------------------- */

static inline sw_ps_t sw_virtual_scaled(int64_t ps)
{
    return (sw_ps_t)((double)ps / sw_virtual_model.cpu_speed);
}

static inline sw_ps_t sw_virtual_asleep(const sw_virtual_clock_t *c)
{
    return atomic_load_explicit(&c->passed, memory_order_relaxed);
}

static inline sw_ps_t sw_virtual_now_here(const sw_virtual_clock_t *c)
{
    return c->answered + sw_virtual_scaled(c->computed > 0 ? c->computed : 0) +
           c->tested + sw_virtual_asleep(c);
}

#endif
