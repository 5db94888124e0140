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
    int *at, *sits;             /* the seat of a vertex, and its vertex     */
} table_t;

/* What vertex v would save at the seat `to` of vertex `other`, which comes to
 * v's own. */
static int64_t saving(table_t *t, int v, int to, int other)
{
    int64_t saved = 0;
    const sw_web_t *web = t->web;
    t->effort -= (int64_t)(web->first[v + 1] - web->first[v]) + 1;
    for (size_t i = web->first[v]; i < web->first[v + 1]; i++) {
        int end = web->to[i];
        if (end == other)
            continue;
        int before = sw_seats_level(t->seats, t->at[v], t->at[end]);
        int after = sw_seats_level(t->seats, to, t->at[end]);
        saved += (int64_t)sw_web_amount(web, i) *
                 (sw_seats_price[before] - sw_seats_price[after]);
    }
    return saved;
}

/* Give v the best seat of the part, on this level, in which `near` lies. */
static bool move(table_t *t, int v, int level, int near)
{
    int from = t->at[v], first = t->seats->part[near][level], best = -1;
    int64_t most = 0;
    for (int to = first; to < t->seats->n && t->effort > 0 &&
                         t->seats->part[to][level] == first; to++) {
        int other = t->sits[to];
        int64_t saved = saving(t, v, to, other) + saving(t, other, from, v);
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
        if (level < SW_SEAT_LEVELS && move(t, v, level, near))
            return true;
    }
    return false;
}

void sw_swaps(const sw_web_t *web, const sw_seats_t *seats, int64_t effort,
              int *at)
{
    table_t t = {web, seats, effort, at,
                 sw_array_zeroed((size_t)web->n, sizeof *t.sits)};
    for (int v = 0; v < web->n; v++)
        t.sits[at[v]] = v;
    for (bool better = true; better && t.effort > 0;) {
        better = false;
        for (int v = 0; v < web->n && t.effort > 0; v++)
            better |= improve(&t, v);
    }
    free(t.sits);
}
