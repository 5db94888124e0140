/*
 * tally.c - see tally.h. A table with open addressing, which grows by two up
 * to a bound.
 */
#include "tally.h"

#include "mpi/base/link.h"

#include <pthread.h>
#include <stdlib.h>

#define FIRST (1u << 6)
#define MOST (1u << 18)

typedef struct {
    uint64_t context_id, count;     /* count 0: free */
    int place, tag;
} entry_t;

struct sw_tally {
    pthread_mutex_t lock;
    entry_t *at;
    unsigned size, used;
};

sw_tally_t sw_numbers_sent = {.lock = PTHREAD_MUTEX_INITIALIZER},
           sw_numbers_received = {.lock = PTHREAD_MUTEX_INITIALIZER},
           sw_last_taken = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Threads of the program's. */
static void enter(sw_tally_t *t)
{
    if (sw_threaded)
        pthread_mutex_lock(&t->lock);
}

static void leave(sw_tally_t *t)
{
    if (sw_threaded)
        pthread_mutex_unlock(&t->lock);
}

/* Its entry, or the free one where it belongs; at least one is free. */
static entry_t *find(const sw_tally_t *t, uint64_t context_id, int place,
                     int tag)
{
    uint64_t key = context_id ^
                   ((uint64_t)(uint32_t)place << 32 | (uint32_t)tag);
    unsigned i = (unsigned)sw_handle_mix(key);
    while (true) {
        entry_t *e = &t->at[i++ & (t->size - 1)];
        if (!e->count ||
            (e->context_id == context_id && e->place == place && e->tag == tag))
            return e;
    }
}

/* Room for one more. */
static bool grow(sw_tally_t *t)
{
    if (2 * (t->used + 1) <= t->size)
        return true;
    sw_tally_t to = {.size = t->size ? 2 * t->size : FIRST, .used = t->used};
    if (to.size > MOST || !(to.at = calloc(to.size, sizeof *to.at)))
        return false;
    for (unsigned i = 0; i < t->size; i++)
        if (t->at[i].count)
            *find(&to, t->at[i].context_id, t->at[i].place, t->at[i].tag) =
                t->at[i];
    free(t->at);
    t->at = to.at;
    t->size = to.size;
    return true;
}

/* Change a count: by one, or to what is not less; 0: there is no room. */
static uint64_t change(sw_tally_t *t, uint64_t context_id, int place, int tag,
                       uint64_t to)
{
    uint64_t count = 0;
    enter(t);
    bool room = grow(t);
    entry_t *e = t->at ? find(t, context_id, place, tag) : NULL;
    if (e && (e->count || room)) {
        t->used += !e->count;
        e->context_id = context_id;
        e->place = place;
        e->tag = tag;
        count = e->count = to ? sw_max(e->count, to) : e->count + 1;
    }
    leave(t);
    return count;
}

uint64_t sw_tally_next(sw_tally_t *t, uint64_t context_id, int place, int tag)
{
    return change(t, context_id, place, tag, 0);
}

void sw_tally_raise(sw_tally_t *t, uint64_t context_id, int place, int tag,
                    uint64_t to)
{
    change(t, context_id, place, tag, to);
}

uint64_t sw_tally_of(sw_tally_t *t, uint64_t context_id, int place, int tag)
{
    if (sw_likely(!t->at))
        return 0;
    enter(t);
    uint64_t count = find(t, context_id, place, tag)->count;
    leave(t);
    return count;
}
