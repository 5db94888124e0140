/*
 * trials.c - see trials.h.
 */
#include "trials.h"

#include "mpi/base/guard.h"
#include "mpi/base/reach.h"
#include "node/os/os.h"

#include <stdlib.h>

/* So many collectives and sizes of a communicator have trials: those that come
 * first. Each takes some 300 bytes. */
enum { CLASSES = 16 };

struct sw_trials {
    int used;
    int key[CLASSES];
    sw_trial_t of[CLASSES];
};

/* Of a collective and its bytes: 0, 1 to 3, 4 to 15, 16 to 63 ... */
static int key_of(const sw_coll_call_t *k)
{
    int bits = k->bytes ? 64 - __builtin_clzll(k->bytes) : 0;
    return k->id * 64 + (bits + 1) / 2;
}

/* All members have room, or there are no trials. Nor are there any where a
 * device may hold buffers: not every host can read them. */
static struct sw_trials *make(sw_comm_t *c)
{
    SW_INSIDE;
    struct sw_trials *made = calloc(1, sizeof *made);
    int mine = made && !(sw_device_possible() && sw_device_present()), all = 0;
    host.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, c->handle);
    if (!all) {
        free(made);
        made = NULL;
    }
    return made;
}

static sw_trial_t *find(struct sw_trials *t, int key)
{
    int i = 0;
    while (i < t->used && t->key[i] != key)
        i++;
    if (i == CLASSES)
        return NULL;
    if (i == t->used)
        t->key[t->used++] = key;
    return &t->of[i];
}

static void settle(sw_comm_t *c, sw_trial_t *t)
{
    SW_INSIDE;
    sw_stamps_t latest = t->stamps;
    host.Allreduce(&t->stamps, &latest, SW_STAMPS, MPI_INT64_T, MPI_MAX,
                   c->handle);
    sw_trial_settle(t, &latest);
}

bool sw_trials_host_guarded(sw_coll_call_t *k)
{
    sw_comm_t *c = k->c;
    if (c->apart || sw_collective_is_near(k->id))
        return false;
    /* Many communicators have a few calls only. */
    uint64_t first = (uint64_t)sw_settings.guard_first;
    if (c->guarded <= first / 2 && c->guarded++ == first / 2)
        c->trials = make(c);
    sw_trial_t *t = c->trials ? find(c->trials, key_of(k)) : NULL;
    if (!t)
        return false;
    bool timed = false;
    if (sw_trial_is_due(t))
        settle(c, t);
    int side = sw_trial_call(t, first, &timed);
    if (timed) {
        k->trial = t;
        sw_trial_began(t, sw_os_now());
    }
    if (side == SW_SIDE_OURS)
        return false;
    k->reason = SW_REASON_TRIAL;
    return true;
}

void sw_trials_ended(sw_coll_call_t *k)
{
    sw_trial_t *t = k->trial;
    int64_t more = t->given == SW_SIDE_OURS ? sw_settings.guard_delay : 0;
    sw_trial_ended(t, sw_os_now() + (uint64_t)more);
}
