/*
 * swaps.c - see swaps.h.
 */
#include "swaps.h"

#include "node/base/array.h"

#include <stdlib.h>

typedef struct {
    const sw_web_t *web;
    const sw_seats_t *seats;
    int64_t effort;
    int *at, *sits; /* the seat of a vertex, and its vertex */
} table_t;

/* Give v the best seat of the part, on this level, in which `near` lies. */
static bool move(table_t *t, int v, int level, int near)
{
    int first = sw_seats_part(t->seats, near, level);
    int from = t->at[v], best = -1;
    int64_t most = 0;
    for (int to = first; to < t->seats->n && t->effort > 0 &&
                         sw_seats_part(t->seats, to, level) == first;
         to++) {
        int other = t->sits[to];
        int64_t saved = sw_web_saving(t->web, t->seats, t->at, v, other,
                                      &t->effort);
        if (saved > most) {
            most = saved;
            best = to;
        }
    }
    if (best < 0)
        return false;
    int other = t->sits[best];
    t->at[v] = best;
    t->at[other] = from;
    t->sits[best] = v;
    t->sits[from] = other;
    return true;
}

static bool improve(table_t *t, int v)
{
    const sw_web_t *web = t->web;
    for (size_t i = web->first[v]; i < web->first[v + 1]; i++) {
        int near = t->at[web->to[i]];
        int level = sw_seats_level(t->seats, t->at[v], near);
        t->effort--;
        if (level < t->seats->levels && move(t, v, level, near))
            return true;
    }
    return false;
}

int64_t sw_swaps(const sw_web_t *web, const sw_seats_t *seats, int64_t effort,
                 const int *list, int count, int *at)
{
    table_t t = {web, seats, effort, at,
                 sw_array_zeroed((size_t)web->n, sizeof *t.sits)};
    for (int v = 0; v < web->n; v++)
        t.sits[at[v]] = v;
    for (bool better = true; better && t.effort > 0;) {
        better = false;
        for (int i = 0; i < count && t.effort > 0; i++)
            better |= improve(&t, list ? list[i] : i);
    }
    free(t.sits);
    return t.effort;
}
