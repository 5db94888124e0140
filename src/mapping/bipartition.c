/*
 * bipartition.c - see bipartition.h.
 */
#include "bipartition.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    sw_halves_t halves;
    const sw_seats_t *seats;
    sw_cut_t *cut;
    void *context;
} work_t;

static void grow(sw_halves_t *h, int begin, int middle, int end, void *context)
{
    sw_halves_grow_from_rim(h, begin, end, middle - begin);
}

/* The bound between two parts that is nearest the middle of the stretch; `end`:
 * there is none. */
static int bound(const sw_seats_t *seats, int begin, int end)
{
    int level = sw_seats_level(seats, begin, end - 1), best = end;
    for (int i = begin + 1; level < seats->levels && i < end; i++)
        if (sw_seats_part(seats, i, level) == i &&
            abs(2 * i - begin - end) < abs(2 * best - begin - end))
            best = i;
    return best;
}

static void halve(work_t *w, int begin, int end)
{
    int middle = bound(w->seats, begin, end);
    if (middle == end)
        return;
    w->cut(&w->halves, begin, middle, end, w->context);
    halve(w, begin, middle);
    halve(w, middle, end);
}

void sw_bipartition(const sw_web_t *web, const sw_seats_t *seats, sw_cut_t *cut,
                    void *context, int *at)
{
    work_t w = {.seats = seats, .cut = cut ? cut : grow, .context = context};
    sw_halves_start(web, &w.halves);
    halve(&w, 0, web->n);
    memcpy(at, w.halves.place, (size_t)web->n * sizeof *at);
    sw_halves_free(&w.halves);
}
