/*
 * strips.c - the order of a lattice by strips, for the largest node's size.
 *
 * The longest dimension runs along the strips. The others are cut into pieces
 * about as wide as the cube that has as many cells as the node.
 */
#include "lattice.h"

/* load times the k-th root of a / b, rounded, at least 1: the greatest m with
 * (2m - 1)^k b <= (2 load)^k a. */
static int root(int k, int load, double a, double b)
{
    int m = 1;
    for (;; m++) {
        double left = b, right = a;
        for (int i = 0; i < k; i++) {
            left *= 2 * m + 1;
            right *= 2 * load;
        }
        if (left > right)
            return m;
    }
}

/* The width of each piece. `others`: all dimensions but one, by size. Few
 * messages leave a box that is wide where many messages go. */
static void find_widths(const sw_lattice_t *g, const int *others, int volume,
                        int *width)
{
    double taken = 1;
    for (int d = 0; d < g->ndims; d++)
        taken *= sw_lattice_load(g, d);
    for (int k = 0; k < g->ndims - 1; k++) {
        int d = others[k], load = sw_lattice_load(g, d);
        int wanted = root(g->ndims - k, load, volume, taken);
        width[d] = wanted < g->dims[d] ? wanted : g->dims[d];
        taken *= (double)width[d] / load;
    }
}

static int largest_node(const sw_seats_t *seats)
{
    int most = 0;
    for (int i = 0; i < seats->n; i++) {
        int first = seats->node < 0 ? 0 : sw_seats_part(seats, i, seats->node);
        int here = i - first + 1;
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
        along = sw_lattice_is_longer(g, g->dims, d, along) ? d : along;
    for (int d = 0; d < g->ndims; d++) { /* by ascending length */
        int at = count;
        if (d == along)
            continue;
        for (; at > 0 && sw_lattice_is_longer(g, g->dims, others[at - 1], d);
             at--)
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
