/*
 * trials.c - see trials.h.
 */
#include "trials.h"

#include "mpi/base/aware.h"
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
    return k->id * SW_WAYS_SIZES + (int)(sw_ways_class(k->bytes) + 1) / 2;
}

/* All members say yes. */
static bool all_agree(sw_comm_t *c, bool yes)
{
    int32_t refused = 1;
    return sw_coll_most(c->sequence, !yes, &refused) == SW_OK && !refused;
}

/* All members have room, or there are no trials. Nor are there any where a
 * device may hold buffers: not every host can read them. */
static struct sw_trials *make(sw_comm_t *c)
{
    struct sw_trials *made = calloc(1, sizeof *made);
    bool device = sw_aware_lacks() ||
                  (sw_device_possible() && sw_device_present());
    if (all_agree(c, made && !device))
        return made;
    free(made);
    return NULL;
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

/* Where a member cannot reduce the stamps, all keep what was settled. */
static void settle(sw_comm_t *c, sw_trial_t *t)
{
    const sw_reducer_t latest = {.elem = sizeof(int64_t),
                                 .commutative = true,
                                 .kernel = sw_reduce_kernel(SW_MAX, SW_INT64)};
    sw_stamps_t all;
    int status = sw_coll_allreduce(c->sequence, &latest, &t->stamps, &all,
                                   SW_STAMPS);
    if (all_agree(c, status == SW_OK))
        sw_trial_settle(t, &all);
}

bool sw_trials_host_guarded(sw_coll_call_t *k)
{
    sw_comm_t *c = k->c;
    if (sw_collective_is_near(k->id) || !sw_comm_sequence(c, &k->reason))
        return false;
    /* Many communicators have a few calls only. */
    uint64_t first = (uint64_t)sw_settings.guard_first;
    if (c->guarded <= first / 2 && c->guarded++ == first / 2)
        c->trials = make(c);
    sw_trial_t *t = c->trials ? find(c->trials, key_of(k)) : NULL;
    if (!t)
        return false;
    if (sw_trial_is_due(t))
        settle(c, t);
    bool timed = false;
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
