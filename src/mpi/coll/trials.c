/*
 * trials.c - see trials.h.
 */
#include "trials.h"

#include "mpi/base/guard.h"
#include "node/os/os.h"

#include <stdlib.h>

/* A communicator gets trials with this call: many have a few calls only. */
#define FIRST 32

/* By bytes: none, 1, up to 4, up to 16 ... */
enum { SIZES = 16 };

typedef struct sw_trials {
    sw_trial_t of[SW_COLL_COUNT][SIZES];
} sw_trials_t;

static int size_of(size_t bytes)
{
    int bits = bytes ? 64 - __builtin_clzll(bytes) : 0;
    return bits / 2 < SIZES ? (bits + 1) / 2 : SIZES - 1;
}

/* All members have room, or no trials. */
static sw_trials_t *make(sw_comm_t *c)
{
    SW_INSIDE;
    c->trials = calloc(1, sizeof *c->trials);
    int mine = c->trials != NULL, all = 0;
    host.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, c->handle);
    if (!all) {
        free(c->trials);
        c->trials = NULL;
    }
    return c->trials;
}

static void settle(sw_comm_t *c, sw_trial_t *t)
{
    SW_INSIDE;
    sw_stamps_t latest = t->stamps;
    host.Allreduce(&t->stamps, &latest, SW_STAMPS, MPI_INT64_T, MPI_MAX,
                   c->handle);
    sw_trial_settle(t, &latest);
}

bool sw_trials_host(sw_coll_call_t *k)
{
    sw_comm_t *c = k->c;
    if (c->apart || sw_collective_is_near(k->id))
        return false;
    if (c->guarded < FIRST && ++c->guarded == FIRST)
        make(c);
    if (!c->trials)
        return false;
    sw_trial_t *t = &c->trials->of[k->id][size_of(k->bytes)];
    bool timed = false;
    if (sw_trial_is_due(t))
        settle(c, t);
    int side = sw_trial_call(t, &timed);
    k->side = side;
    if (timed) {
        k->trial = t;
        k->began = sw_os_now();
    }
    return side == SW_SIDE_HOST;
}

void sw_trials_ended(sw_coll_call_t *k)
{
    int64_t more = k->side == SW_SIDE_OURS ? sw_settings.guard_delay : 0;
    sw_trial_took(k->trial, k->side, k->began, sw_os_now() + (uint64_t)more);
    k->trial = NULL;
}
