/*
 * seats.c - see seats.h.
 */
#include "seats.h"

#include "node/base/array.h"

#include <stdlib.h>

static const int prices[SW_SEAT_LEVELS + 1] = {24, 6, 4, 2, 1, 0};

typedef struct {
    int name[SW_SEAT_LEVELS];
    int member;
} named_t;

static int compare(const void *one, const void *two)
{
    const named_t *a = one, *b = two;
    for (int level = 0; level < SW_SEAT_LEVELS; level++)
        if (a->name[level] != b->name[level])
            return a->name[level] < b->name[level] ? -1 : 1;
    return a->member < b->member ? -1 : a->member > b->member;
}

void sw_seats_sort(const sw_seat_t *seat, int n, sw_seats_t *to)
{
    size_t count = (size_t)n;
    named_t *all = sw_array_zeroed(count, sizeof *all);
    for (int i = 0; i < n; i++)
        all[i] = (named_t){{seat[i].node, seat[i].package, seat[i].numa,
                            seat[i].l3, seat[i].core},
                           i};
    qsort(all, count, sizeof *all, compare);
    *to = (sw_seats_t){.n = n, .levels = SW_SEAT_LEVELS, .price = prices};
    to->member = sw_array_zeroed(count, sizeof *to->member);
    to->of = sw_array_zeroed(count, sizeof *to->of);
    to->part = sw_array_zeroed(count * SW_SEAT_LEVELS, sizeof *to->part);
    for (int i = 0; i < n; i++) {
        bool same = i > 0;
        int *part = to->part + i * SW_SEAT_LEVELS;
        to->member[i] = all[i].member;
        to->of[all[i].member] = i;
        for (int level = 0; level < SW_SEAT_LEVELS; level++) {
            same = same && all[i].name[level] == all[i - 1].name[level];
            part[level] = same ? part[level - SW_SEAT_LEVELS] : i;
        }
    }
    free(all);
}

void sw_seats_free(sw_seats_t *seats)
{
    free(seats->member);
    free(seats->of);
    free(seats->part);
}
