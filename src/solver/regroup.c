/*
 * regroup.c - see regroup.h.
 *
 * The group is a problem of its own: its vertices and seats are numbered from 0
 * on, in the order of the seats.
 */
#include "regroup.h"

#include "mapping/swaps.h"
#include "node/base/array.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 4, TRIES = 2 };
/* Swaps of a group look at so many links for each of its own. A bipartition
 * takes as long as so many looks. */
enum { OF_SWAPS = 40, OF_BIPARTITION = 40 };

typedef struct {
    const sw_web_t *web;
    const sw_seats_t *seats;
    int64_t effort;
    sw_cuts_t *cuts;
    int *at, *sits;    /* the seat of a vertex, and its vertex */
    int *queue, *seen; /* of vertices round one, in round `mark` */
    int mark;
    int part[PARTS], parts; /* of the group: by their first seats */
    int *vertex, *seat;     /* of the group, by their numbers in it */
    int *number;            /* [n]: in the group; -1: not in it */
    sw_web_t web_within;
    sw_seats_t seats_within;
    int *at_within, *try; /* the group's placement; that of all */
} group_t;

static bool holds(const group_t *g, int part)
{
    for (int i = 0; i < g->parts; i++)
        if (g->part[i] == part)
            return true;
    return false;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Find up to `most` parts of a level: those of the vertices round a random one.
 */
static void find_parts(group_t *g, int level, int most)
{
    const sw_web_t *web = g->web;
    int begin = 0, end = 0;
    g->parts = 0;
    g->queue[end++] = sw_cuts_draw(g->cuts, web->n);
    g->seen[g->queue[0]] = ++g->mark;
    while (begin < end && g->parts < most) {
        int v = g->queue[begin++];
        int here = sw_seats_part(g->seats, g->at[v], level);
        if (!holds(g, here))
            g->part[g->parts++] = here;
        for (size_t i = web->first[v]; i < web->first[v + 1]; i++) {
            int other = web->to[i];
            g->effort--;
            if (g->seen[other] != g->mark) {
                g->seen[other] = g->mark;
                g->queue[end++] = other;
            }
        }
    }
    qsort(g->part, (size_t)g->parts, sizeof *g->part, compare);
}

/* Add a seat, and its vertex, to the group. */
static void add(group_t *g, int seat)
{
    int i = g->seats_within.n++, levels = g->seats->levels;
    int *part = g->seats_within.part + i * levels;
    for (int level = 0; level < levels; level++)
        part[level] = i && sw_seats_part(g->seats, seat, level) ==
                                  sw_seats_part(g->seats, g->seat[i - 1], level)
                          ? part[level - levels]
                          : i;
    g->seat[i] = seat;
    g->vertex[i] = g->sits[seat];
    g->number[g->vertex[i]] = i;
}

/* Fill the group from its parts. */
static void fill(group_t *g, int level)
{
    sw_web_t *to = &g->web_within;
    g->seats_within.n = 0;
    for (int i = 0; i < g->parts; i++)
        for (int seat = g->part[i];
             seat < g->seats->n &&
             sw_seats_part(g->seats, seat, level) == g->part[i];
             seat++)
            add(g, seat);
    to->n = g->seats_within.n;
    size_t links = 0;
    for (int i = 0; i < to->n; i++) {
        size_t from = g->web->first[g->vertex[i]];
        size_t end = g->web->first[g->vertex[i] + 1];
        to->first[i] = links;
        for (size_t k = from; k < end; k++)
            if (g->number[g->web->to[k]] >= 0) {
                to->to[links] = g->number[g->web->to[k]];
                to->amount[links++] = sw_web_amount(g->web, k);
            }
    }
    to->first[to->n] = links;
    for (int i = 0; i < to->n; i++)
        g->number[g->vertex[i]] = -1;
}

/* Place the group anew in g->try. */
static void place(group_t *g)
{
    int64_t links = (int64_t)g->web_within.first[g->web_within.n] +
                    g->web_within.n;
    memcpy(g->try, g->at, (size_t)g->web->n * sizeof *g->try);
    sw_bipartition(&g->web_within, &g->seats_within, sw_cut, g->cuts,
                   g->at_within);
    for (int i = 0; i < g->web_within.n; i++)
        g->try[g->vertex[i]] = g->seat[g->at_within[i]];
    g->effort -= (OF_BIPARTITION + OF_SWAPS) * links;
    g->effort += sw_swaps(g->web, g->seats, OF_SWAPS * links, g->vertex,
                          g->web_within.n, g->try);
}

static void search(group_t *g)
{
    const sw_web_t *web = g->web;
    int64_t across, cost = sw_web_cost(web, g->seats, g->at, &across);
    while (g->effort > 0) {
        int level = sw_cuts_draw(g->cuts, g->seats->levels);
        find_parts(g, level, 2 + sw_cuts_draw(g->cuts, PARTS - 1));
        g->effort -= web->n + (int64_t)web->first[web->n];
        if (g->parts < 2)
            continue;
        fill(g, level);
        place(g);
        int64_t now = sw_web_cost(web, g->seats, g->try, &across);
        if (now > cost)
            continue;
        cost = now;
        for (int v = 0; v < web->n; v++) {
            g->at[v] = g->try[v];
            g->sits[g->at[v]] = v;
        }
    }
}

void sw_regroup(const sw_web_t *web, const sw_seats_t *seats, int64_t effort,
                sw_cuts_t *cuts, int *at)
{
    size_t n = (size_t)web->n, links = web->first[n];
    group_t g = {.web = web,
                 .seats = seats,
                 .effort = effort,
                 .cuts = cuts,
                 .at = at,
                 .seats_within = *seats};
    int **const arrays[] = {&g.sits, &g.queue,  &g.seen,      &g.vertex,
                            &g.seat, &g.number, &g.at_within, &g.try};
    enum { ARRAYS = sizeof arrays / sizeof *arrays };
    for (size_t i = 0; i < ARRAYS; i++)
        *arrays[i] = sw_array_zeroed(n, sizeof **arrays[i]);
    g.seats_within.part = sw_array_zeroed(n * (size_t)seats->levels,
                                          sizeof *seats->part);
    g.web_within.first = sw_array_zeroed(n + 1, sizeof *web->first);
    g.web_within.to = sw_array_zeroed(links, sizeof *web->to);
    g.web_within.amount = sw_array_zeroed(links, sizeof *web->amount);
    for (int v = 0; v < web->n; v++) {
        g.sits[at[v]] = v;
        g.number[v] = -1;
    }
    cuts->tries = TRIES;
    search(&g);
    for (size_t i = 0; i < ARRAYS; i++)
        free(*arrays[i]);
    free(g.seats_within.part);
    sw_web_free(&g.web_within);
}
