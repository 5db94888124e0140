/*
 * halves.c - see halves.h.
 */
#include "halves.h"

#include "node/base/array.h"

#include <stdlib.h>

static bool before(sw_gain_t a, sw_gain_t b)
{
    return a.gain != b.gain     ? a.gain > b.gain
           : a.stamp != b.stamp ? a.stamp > b.stamp
                                : a.vertex < b.vertex;
}

void sw_gains_push(sw_gains_t *heap, sw_gain_t one)
{
    sw_gain_t *next = heap->next;
    size_t i = heap->n++;
    for (; i > 0 && before(one, next[(i - 1) / 2]); i = (i - 1) / 2)
        next[i] = next[(i - 1) / 2];
    next[i] = one;
}

void sw_gains_pop(sw_gains_t *heap)
{
    sw_gain_t *next = heap->next, last = next[--heap->n];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < heap->n) {
        if (child + 1 < heap->n && before(next[child + 1], next[child]))
            child++;
        if (!before(next[child], last))
            break;
        next[i] = next[child];
        i = child;
    }
    next[i] = last;
}

static void stand(sw_halves_t *h, int at, int vertex)
{
    h->vertex[at] = vertex;
    h->place[vertex] = at;
}

void sw_halves_exchange(sw_halves_t *h, int a, int b)
{
    int at_a = h->vertex[a], at_b = h->vertex[b];
    stand(h, a, at_b);
    stand(h, b, at_a);
}

int sw_halves_top(sw_halves_t *h, sw_gains_t *heap)
{
    for (; heap->n; sw_gains_pop(heap)) {
        sw_gain_t one = heap->next[0];
        if (!h->taken[one.vertex] && one.gain == h->gain[one.vertex])
            return one.vertex;
    }
    return -1;
}

int sw_halves_grow(sw_halves_t *h, int begin, int end, int count)
{
    const sw_web_t *web = h->web;
    h->heap.n = 0;
    for (int i = begin; i < end; i++) {
        int v = h->vertex[i];
        h->taken[v] = false;
        h->gain[v] = 0;
        for (size_t k = web->first[v]; k < web->first[v + 1]; k++)
            if (sw_halves_holds(h, begin, end, web->to[k]))
                h->gain[v] -= sw_web_amount(web, k);
    }
    for (int i = begin; i < begin + count; i++) {
        /* The best neighbour of those taken, else the first that is left. */
        int v = i == begin ? -1 : sw_halves_top(h, &h->heap);
        if (v < 0)
            v = h->vertex[i];
        h->taken[v] = true;
        sw_halves_exchange(h, i, h->place[v]);
        for (size_t k = web->first[v]; k < web->first[v + 1]; k++) {
            int other = web->to[k];
            if (!sw_halves_holds(h, begin, end, other) || h->taken[other])
                continue;
            h->gain[other] += 2 * (int64_t)sw_web_amount(web, k);
            sw_gains_push(&h->heap, (sw_gain_t){h->gain[other], 0, other});
        }
    }
    return h->vertex[begin + count - 1];
}

void sw_halves_grow_from_rim(sw_halves_t *h, int begin, int end, int count)
{
    int last = sw_halves_grow(h, begin, end, end - begin);
    sw_halves_exchange(h, begin, h->place[last]);
    sw_halves_grow(h, begin, end, count);
}

void sw_halves_start(const sw_web_t *web, sw_halves_t *to)
{
    size_t n = (size_t)web->n;
    *to = (sw_halves_t){.web = web};
    to->vertex = sw_array_zeroed(n, sizeof *to->vertex);
    to->place = sw_array_zeroed(n, sizeof *to->place);
    to->gain = sw_array_zeroed(n, sizeof *to->gain);
    to->taken = sw_array_zeroed(n, sizeof *to->taken);
    to->heap.next = sw_array_zeroed(web->first[n] + 1, sizeof(sw_gain_t));
    for (int v = 0; v < web->n; v++)
        stand(to, v, v);
}

void sw_halves_free(sw_halves_t *h)
{
    free(h->vertex);
    free(h->place);
    free(h->gain);
    free(h->taken);
    free(h->heap.next);
}
