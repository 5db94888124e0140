/*
 * cuts.c - orders of a lattice that planes make: hyperplane and halves.
 *
 * The box is cut in two, each half again, until a box needs no order.
 */
#include "lattice.h"

typedef struct {
    const sw_lattice_t *lattice;
    const sw_seats_t *seats;
    sw_lattice_box_t box;
    int *order, done;
} walk_t;

/* Where to cut the box whose cells take the seats from w->done on: *dimension
 * and *at. False: nowhere, write it as a snake. */
typedef bool where_t(const walk_t *w, int volume, int *dimension, int *at);

static void walk(walk_t *w, where_t *where)
{
    int d, at, volume = sw_lattice_volume(w->lattice, &w->box);
    if (!where(w, volume, &d, &at)) {
        w->done += sw_lattice_snake(w->lattice, &w->box, w->order + w->done);
        return;
    }
    int begin = w->box.begin[d], end = w->box.end[d];
    w->box.end[d] = at;
    walk(w, where);
    w->box.end[d] = end;
    w->box.begin[d] = at;
    walk(w, where);
    w->box.begin[d] = begin;
}

/* On the outermost level that the box lies across: the plane at one of its
 * bounds that few messages cross, for the thickness of the smaller half. */
static bool between_parts(const walk_t *w, int volume, int *dimension, int *at)
{
    int begin = w->done;
    int64_t best = 0, crossing = 1;
    int level = sw_seats_level(w->seats, begin, begin + volume - 1);
    if (level == w->seats->levels)
        return false;
    for (int d = 0; d < w->lattice->ndims; d++) {
        int size = w->box.end[d] - w->box.begin[d], slab = volume / size;
        for (int thick = 1; thick < size; thick++) {
            int seat = begin + thick * slab;
            int64_t thin = thick < size - thick ? thick : size - thick;
            if (sw_seats_part(w->seats, seat, level) == seat &&
                (thin * crossing > best * w->lattice->crossing[d] ||
                 (best && d == *dimension && thin > best))) {
                best = thin;
                crossing = w->lattice->crossing[d];
                *dimension = d;
                *at = w->box.begin[d] + thick;
            }
        }
    }
    return best > 0;
}

static bool in_the_middle(const walk_t *w, int volume, int *dimension, int *at)
{
    int size[SW_LATTICE_DIMS], best = -1;
    for (int d = 0; d < w->lattice->ndims; d++) {
        size[d] = w->box.end[d] - w->box.begin[d];
        if (size[d] > 1 &&
            (best < 0 || sw_lattice_is_longer(w->lattice, size, d, best)))
            best = d;
    }
    if (best < 0)
        return false;
    *dimension = best;
    *at = w->box.begin[best] + size[best] / 2;
    return true;
}

bool sw_lattice_hyperplane(const sw_lattice_t *lattice, const sw_seats_t *seats,
                           int *order)
{
    walk_t w = {lattice, seats, sw_lattice_whole(lattice), order, 0};
    walk(&w, between_parts);
    return true;
}

bool sw_lattice_halves(const sw_lattice_t *lattice, const sw_seats_t *seats,
                       int *order)
{
    walk_t w = {lattice, seats, sw_lattice_whole(lattice), order, 0};
    walk(&w, in_the_middle);
    return true;
}
