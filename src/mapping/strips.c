/*
 * strips.c - the order of a lattice by strips, for the largest node's size.
 *
 * The longest dimension runs along the strips. The others are cut into pieces
 * about as wide as the cube that has as many cells as the node.
 */
#include "lattice.h"

/* The k-th root of a / b, rounded, at least 1: the greatest m with
 * (2m - 1)^k b <= 2^k a. */
static int root(int k, int64_t a, int64_t b)
{
    int m = 1;
    for (;; m++) {
        double left = (double)b, right = (double)a;
        for (int i = 0; i < k; i++) {
            left *= 2 * m + 1;
            right *= 2;
        }
        if (left > right)
            return m;
    }
}

/* The width of each piece. `others`: all dimensions but one, by size. */
static void find_widths(const sw_lattice_t *g, const int *others, int volume,
                        int *width)
{
    int64_t cells = volume, taken = 1;
    for (int k = 0; k < g->ndims - 1; k++) {
        int d = others[k], wanted = root(g->ndims - k, cells, taken);
        width[d] = wanted < g->dims[d] ? wanted : g->dims[d];
        taken *= width[d];
    }
}

static int largest_node(const sw_seats_t *seats)
{
    int most = 0;
    for (int i = 0; i < seats->n; i++) {
        int here = i - seats->part[i][0] + 1;
        most = here > most ? here : most;
    }
    return most;
}

/* How many pieces of about this width; half a piece is rounded to even. */
static int pieces_of(int size, int width)
{
    int count = size / width, rest = 2 * (size % width);
    count += rest > width || (rest == width && count % 2);
    return count > 1 ? count : 1;
}

static void turn(int *list, int n)
{
    for (int i = 0; i < n / 2; i++) {
        int swap = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = swap;
    }
}

bool sw_lattice_strips(const sw_lattice_t *g, const sw_seats_t *seats,
                       int *order)
{
    int width[SW_LATTICE_DIMS], pieces[SW_LATTICE_DIMS], along = 0, strips = 1;
    int others[SW_LATTICE_DIMS], count = 0, done = 0;
    for (int d = 1; d < g->ndims; d++)
        along = g->dims[d] > g->dims[along] ? d : along;
    for (int d = 0; d < g->ndims; d++) {        /* by ascending size */
        int at = count;
        if (d == along)
            continue;
        for (; at > 0 && g->dims[others[at - 1]] > g->dims[d]; at--)
            others[at] = others[at - 1];
        others[at] = d;
        count++;
    }
    find_widths(g, others, largest_node(seats), width);
    for (int d = 0; d < g->ndims; d++)
        if (d != along)
            strips *= pieces[d] = pieces_of(g->dims[d], width[d]);
    for (int s = 0; s < strips; s++) {
        sw_lattice_box_t box = sw_lattice_whole(g);
        int left = s, whole = strips, length = g->dims[along];
        bool back = false;
        for (int d = 0; d < g->ndims; d++) {
            if (d == along)
                continue;
            whole /= pieces[d];
            int step = left / whole, p = back ? pieces[d] - 1 - step : step;
            left %= whole;
            back = step % 2;
            box.begin[d] = (int)((int64_t)g->dims[d] * p / pieces[d]);
            box.end[d] = (int)((int64_t)g->dims[d] * (p + 1) / pieces[d]);
        }
        for (int i = 0; i < length; i++) {
            box.begin[along] = s % 2 ? length - 1 - i : i;
            box.end[along] = box.begin[along] + 1;
            int cells = sw_lattice_snake(g, &box, order + done);
            if (i % 2)
                turn(order + done, cells);
            done += cells;
        }
    }
    return true;
}
