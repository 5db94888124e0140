/*
 * cut.c - see cut.h.
 */
#include "cut.h"

#include "node/base/array.h"

#include <stdlib.h>
#include <string.h>

/* A pass ends after so many moves, and a part of the vertices, that have found
 * nothing better. */
enum { PATIENCE = 40, PART = 10 };

typedef struct {
    sw_cuts_t *own;
    sw_halves_t *h;
    int begin, middle, end;
} work_t;

/* The amount between the halves. Fills the gain of each vertex. */
static int64_t weigh(work_t *w)
{
    sw_halves_t *h = w->h;
    const sw_web_t *web = h->web;
    int64_t twice = 0;
    for (int i = w->begin; i < w->end; i++) {
        int v = h->vertex[i];
        h->gain[v] = 0;
        for (size_t k = web->first[v]; k < web->first[v + 1]; k++) {
            int other = web->to[k];
            if (!sw_halves_holds(h, w->begin, w->end, other))
                continue;
            int64_t amount = sw_web_amount(web, k);
            bool crosses = (h->place[other] < w->middle) != (i < w->middle);
            h->gain[v] += crosses ? amount : -amount;
            twice += crosses ? amount : 0;
        }
    }
    return twice / 2;
}

/* Move a vertex to the other half, and change its neighbours' gains. */
static void move(work_t *w, int v, int stamp)
{
    sw_halves_t *h = w->h;
    const sw_web_t *web = h->web;
    bool *side = w->own->side;
    side[v] = !side[v];
    h->gain[v] = -h->gain[v];
    h->taken[v] = true;
    for (size_t k = web->first[v]; k < web->first[v + 1]; k++) {
        int other = web->to[k];
        if (!sw_halves_holds(h, w->begin, w->end, other))
            continue;
        h->gain[other] += (side[other] == side[v] ? -2 : 2) *
                          (int64_t)sw_web_amount(web, k);
        if (!h->taken[other])
            sw_gains_push(&w->own->heap[side[other]],
                          (sw_gain_t){h->gain[other], stamp, other});
    }
}

/* The vertex that moves next: from the half that is too large, if one is, else
 * of both the one with the most gain. -1: none is left. */
static int choose(work_t *w, int surplus)
{
    sw_halves_t *h = w->h;
    sw_gains_t *heap = w->own->heap;
    int one = surplus <= 0 ? sw_halves_top(h, &heap[0]) : -1;
    int two = surplus >= 0 ? sw_halves_top(h, &heap[1]) : -1;
    return one < 0 || (two >= 0 && h->gain[two] > h->gain[one]) ? two : one;
}

/* Let each vertex stand in the half that it is in. */
static void sort(work_t *w)
{
    const bool *side = w->own->side;
    for (int i = w->begin, j = w->middle; i < w->middle; i++)
        if (side[w->h->vertex[i]]) {
            while (side[w->h->vertex[j]])
                j++;
            sw_halves_exchange(w->h, i, j);
        }
}

/* One pass. Did the cut become less? */
static bool pass(work_t *w)
{
    sw_halves_t *h = w->h;
    sw_cuts_t *own = w->own;
    int64_t won = 0, best = 0;
    int moves = 0, kept = 0, surplus = 0; /* of the second half */
    weigh(w);
    own->heap[0].n = own->heap[1].n = 0;
    for (int i = w->begin; i < w->end; i++) {
        int v = h->vertex[i];
        own->side[v] = i >= w->middle;
        h->taken[v] = false;
        sw_gains_push(&own->heap[own->side[v]], (sw_gain_t){h->gain[v], 0, v});
    }
    while (moves - kept < PATIENCE + (w->end - w->begin) / PART) {
        int v = choose(w, surplus);
        if (v < 0)
            break;
        surplus += own->side[v] ? -1 : 1;
        won += h->gain[v];
        own->moved[moves++] = v;
        move(w, v, moves);
        if (!surplus && won > best) {
            best = won;
            kept = moves;
        }
    }
    while (moves > kept) {
        int v = own->moved[--moves];
        own->side[v] = !own->side[v];
    }
    sort(w);
    return best > 0;
}

void sw_cut(sw_halves_t *h, int begin, int middle, int end, void *context)
{
    sw_cuts_t *own = context;
    work_t w = {own, h, begin, middle, end};
    int64_t least = INT64_MAX;
    size_t bytes = (size_t)(end - begin) * sizeof *own->best;
    for (int i = 0; i < own->tries; i++) {
        int first = begin + sw_cuts_draw(own, end - begin);
        sw_halves_exchange(h, begin, first);
        if (i % 2)
            sw_halves_grow_from_rim(h, begin, end, middle - begin);
        else
            sw_halves_grow(h, begin, end, middle - begin);
        while (pass(&w))
            ;
        int64_t amount = weigh(&w);
        if (amount < least) {
            least = amount;
            memcpy(own->best, h->vertex + begin, bytes);
        }
    }
    for (int i = begin; i < end; i++)
        sw_halves_exchange(h, i, h->place[own->best[i - begin]]);
}

void sw_cuts_start(const sw_web_t *most, sw_cuts_t *to)
{
    size_t n = (size_t)most->n, entries = most->first[n] + n;
    *to = (sw_cuts_t){.random = 1};
    to->moved = sw_array_zeroed(n, sizeof *to->moved);
    to->best = sw_array_zeroed(n, sizeof *to->best);
    to->side = sw_array_zeroed(n, sizeof *to->side);
    for (int i = 0; i < 2; i++)
        to->heap[i].next = sw_array_zeroed(entries, sizeof(sw_gain_t));
}

void sw_cuts_free(sw_cuts_t *cuts)
{
    free(cuts->moved);
    free(cuts->best);
    free(cuts->side);
    free(cuts->heap[0].next);
    free(cuts->heap[1].next);
}
