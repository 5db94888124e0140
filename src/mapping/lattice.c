/*
 * lattice.c - see lattice.h.
 */
#include "lattice.h"

bool sw_lattice_of(int ndims, const int *dims, const int *periods, int most,
                   sw_lattice_t *to)
{
    *to = (sw_lattice_t){.n = 1};
    for (int d = 0; d < ndims; d++) {
        if (dims[d] < 1 || dims[d] > most / to->n)
            return false;
        if (dims[d] == 1)
            continue;
        if (to->ndims == SW_LATTICE_DIMS)
            return false;
        to->n *= dims[d];
        to->dims[to->ndims] = dims[d];
        to->crossing[to->ndims] = 2;
        to->periods[to->ndims++] = periods[d];
    }
    return true;
}

sw_lattice_box_t sw_lattice_whole(const sw_lattice_t *g)
{
    sw_lattice_box_t box = {{0}, {0}};
    for (int d = 0; d < g->ndims; d++)
        box.end[d] = g->dims[d];
    return box;
}

int sw_lattice_volume(const sw_lattice_t *g, const sw_lattice_box_t *box)
{
    int volume = 1;
    for (int d = 0; d < g->ndims; d++)
        volume *= box->end[d] - box->begin[d];
    return volume;
}

/* The dimensions by the messages through a plane, for each cell of the size. */
static void sort(const sw_lattice_t *g, const int *size, int *sorted)
{
    for (int d = 0; d < g->ndims; d++) {
        int at = d;
        for (; at > 0 && (int64_t)g->crossing[sorted[at - 1]] * size[d] >
                             (int64_t)g->crossing[d] * size[sorted[at - 1]];
             at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = d;
    }
}

int sw_lattice_snake(const sw_lattice_t *g, const sw_lattice_box_t *box,
                     int *to)
{
    int size[SW_LATTICE_DIMS], sorted[SW_LATTICE_DIMS], n = 1;
    for (int d = 0; d < g->ndims; d++)
        n *= size[d] = box->end[d] - box->begin[d];
    sort(g, size, sorted);
    for (int i = 0; i < n; i++) {
        int at[SW_LATTICE_DIMS], left = i, whole = n, cell = 0;
        bool back = false;
        for (int k = 0; k < g->ndims; k++) {
            int d = sorted[k];
            whole /= size[d];
            int step = left / whole;
            left %= whole;
            at[d] = back ? box->end[d] - 1 - step : box->begin[d] + step;
            back = step % 2;
        }
        for (int d = 0; d < g->ndims; d++)
            cell = cell * g->dims[d] + at[d];
        to[i] = cell;
    }
    return n;
}
