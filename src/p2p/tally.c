/*
 * tally.c - see tally.h.
 */
#include "tally.h"

#include <stdlib.h>

#define FIRST (1u << 6)
#define MOST (1u << 18) /* of what outlives each communicator */

typedef struct sw_tally_entry {
    uint64_t context_id, count; /* count 0: free */
    int place, tag;
} entry_t;

bool sw_tallies_shared;
sw_tally_t sw_numbers_sent = SW_TALLY(MOST),
           sw_numbers_received = SW_TALLY(MOST);

static void enter(sw_tally_t *t)
{
    if (sw_tallies_shared)
        pthread_mutex_lock(&t->lock);
}

static void leave(sw_tally_t *t)
{
    if (sw_tallies_shared)
        pthread_mutex_unlock(&t->lock);
}

/* Its entry, or the free one where it belongs; at least one is free. */
static entry_t *find(sw_tally_t *t, uint64_t context_id, int place, int tag)
{
    uint64_t key = context_id ^
                   ((uint64_t)(uint32_t)place << 32 | (uint32_t)tag);
    unsigned i = (unsigned)(key * 0x9e3779b97f4a7c15u >> 32);
    for (;; t->steps++) {
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
    sw_tally_t to = {.size = t->size ? 2 * t->size : FIRST};
    if (to.size > t->most || !(to.at = calloc(to.size, sizeof *to.at)))
        return false;
    for (unsigned i = 0; i < t->size; i++)
        if (t->at[i].count)
            *find(&to, t->at[i].context_id, t->at[i].place,
                  t->at[i].tag) = t->at[i];
    free(t->at);
    t->at = to.at;
    t->size = to.size;
    t->steps += to.steps;
    return true;
}

uint64_t sw_tally_next(sw_tally_t *t, uint64_t context_id, int place, int tag)
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
        count = ++e->count;
    }
    leave(t);
    return count;
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

void sw_tally_clear(sw_tally_t *t)
{
    free(t->at);
    t->at = NULL;
    t->size = t->used = 0;
}
