/*
 * lammps.c - LAMMPS, molecular dynamics: the atoms near a border go to the
 * neighbour, which puts them behind its own. The properties of an atom lie in
 * arrays side by side:
 *
 *   full    x (3 doubles), q (double), tag, type, mask, molecule (ints)
 *   atomic  x (3 doubles), tag, type, mask
 *
 * The list of the atoms to send has no order in memory. The datatype is a
 * struct with a list for each array. By hand the loops pack one atom after the
 * other, as the application does.
 *
 * d: a process's own atoms, and how many of them are sent. The published ones
 * are the examples peptide (full) and crack (atomic).
 */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

enum { OWN, SENT };
enum { AXES = 3, MOST_ARRAYS = 6 };

static const sw_kernel_shape_t full_shapes[] = {
    {SW_EXTENDED, {100, 86}},      {SW_EXTENDED, {400, 347}},
    {SW_PUBLISHED, {1907, 1662}},  {SW_PUBLISHED, {2597, 2243}},
    {SW_PUBLISHED, {3534, 3062}},  {SW_EXTENDED, {14136, 12248}},
    {SW_EXTENDED, {56544, 48992}}, {SW_EXTENDED, {98000, 86000}},
};
static const sw_kernel_shape_t atomic_shapes[] = {
    {SW_PUBLISHED, {1217, 114}},     {SW_PUBLISHED, {2157, 145}},
    {SW_PUBLISHED, {4084, 243}},     {SW_EXTENDED, {16336, 972}},
    {SW_EXTENDED, {65344, 3888}},    {SW_EXTENDED, {261376, 15552}},
    {SW_EXTENDED, {1045504, 62208}}, {SW_EXTENDED, {1882000, 112000}},
};

static int *list;

static bool begin(const int *d)
{
    list = sw_indices(d[SENT], d[OWN], false);
    return list;
}

static void end(void)
{
    free(list);
    list = NULL;
}

static size_t atoms(const int *d)
{
    return (size_t)(d[OWN] + d[SENT]);
}

/* Where the arrays begin, in bytes: those of doubles first. */
typedef struct {
    size_t x, q, tag, type, mask, molecule;
} places_t;

static inline places_t places_of(const int *d, bool full)
{
    places_t p;
    size_t n = atoms(d);
    p.x = 0;
    p.q = AXES * n * sizeof(double);
    p.tag = p.q + (full ? n * sizeof(double) : 0);
    p.type = p.tag + n * sizeof(int);
    p.mask = p.type + n * sizeof(int);
    p.molecule = p.mask + n * sizeof(int);
    return p;
}

static size_t full_bytes(const int *d)
{
    return (size_t)d[SENT] * (4 * sizeof(double) + 4 * sizeof(int));
}

static size_t full_extent(const int *d)
{
    return atoms(d) * (4 * sizeof(double) + 4 * sizeof(int));
}

static size_t atomic_bytes(const int *d)
{
    return (size_t)d[SENT] * (3 * sizeof(double) + 3 * sizeof(int));
}

static size_t atomic_extent(const int *d)
{
    return atoms(d) * (3 * sizeof(double) + 3 * sizeof(int));
}

/* The datatypes: one array's atoms, by the list or behind the own ones; and
 * all arrays of a block. */

static MPI_Datatype listed(const int *d, MPI_Datatype number, int numbers)
{
    MPI_Datatype atom, all;
    MPI_Type_contiguous(numbers, number, &atom);
    MPI_Type_create_indexed_block(d[SENT], 1, list, atom, &all);
    MPI_Type_free(&atom);
    return all;
}

static MPI_Datatype appended(const int *d, MPI_Datatype number, int numbers)
{
    MPI_Datatype all;
    int length = numbers * d[SENT], place = numbers * d[OWN];
    MPI_Type_indexed(1, &length, &place, number, &all);
    return all;
}

typedef MPI_Datatype (*part_t)(const int *d, MPI_Datatype number, int numbers);

static MPI_Datatype all_arrays(const int *d, part_t part, bool full)
{
    places_t p = places_of(d, full);
    size_t starts[MOST_ARRAYS] = {p.x, p.tag, p.type, p.mask, p.q, p.molecule};
    MPI_Datatype parts[MOST_ARRAYS], all;
    MPI_Aint places[MOST_ARRAYS];
    int ones[MOST_ARRAYS], n = full ? 6 : 4;
    for (int i = 0; i < n; i++) {
        bool real = i == 0 || i == 4;
        parts[i] = part(d, real ? MPI_DOUBLE : MPI_INT, i == 0 ? AXES : 1);
        places[i] = (MPI_Aint)starts[i];
        ones[i] = 1;
    }
    MPI_Type_create_struct(n, ones, places, parts, &all);
    for (int i = 0; i < n; i++)
        MPI_Type_free(&parts[i]);
    return all;
}

static MPI_Datatype full_sent(const int *d, size_t *at)
{
    *at = 0;
    return all_arrays(d, listed, true);
}

static MPI_Datatype full_received(const int *d, size_t *at)
{
    *at = 0;
    return all_arrays(d, appended, true);
}

static MPI_Datatype atomic_sent(const int *d, size_t *at)
{
    *at = 0;
    return all_arrays(d, listed, false);
}

static MPI_Datatype atomic_received(const int *d, size_t *at)
{
    *at = 0;
    return all_arrays(d, appended, false);
}

/* By hand. */

typedef struct {
    double *x, *q;
    int *tag, *type, *mask, *molecule;
} arrays_t;

static inline arrays_t arrays_in(const int *d, void *block, bool full)
{
    places_t p = places_of(d, full);
    char *at = block;
    return (arrays_t){.x = (double *)(at + p.x),
                      .q = (double *)(at + p.q),
                      .tag = (int *)(at + p.tag),
                      .type = (int *)(at + p.type),
                      .mask = (int *)(at + p.mask),
                      .molecule = (int *)(at + p.molecule)};
}

static inline char *put(char *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static inline const char *take(const char *from, void *to, size_t n)
{
    memcpy(to, from, n);
    return from + n;
}

static inline size_t pack(const int *d, const void *block, void *buffer,
                          bool full)
{
    const arrays_t a = arrays_in(d, (void *)block, full);
    char *to = buffer;
    for (int i = 0; i < d[SENT]; i++) {
        int j = list[i];
        to = put(to, &a.x[AXES * (size_t)j], AXES * sizeof(double));
        to = put(to, &a.tag[j], sizeof(int));
        to = put(to, &a.type[j], sizeof(int));
        to = put(to, &a.mask[j], sizeof(int));
        if (full) {
            to = put(to, &a.molecule[j], sizeof(int));
            to = put(to, &a.q[j], sizeof(double));
        }
    }
    return sw_pack_into(buffer, to);
}

static inline size_t unpack(const int *d, const void *buffer, void *block,
                            bool full)
{
    const arrays_t a = arrays_in(d, block, full);
    const char *from = buffer;
    for (int j = d[OWN]; j < d[OWN] + d[SENT]; j++) {
        from = take(from, &a.x[AXES * (size_t)j], AXES * sizeof(double));
        from = take(from, &a.tag[j], sizeof(int));
        from = take(from, &a.type[j], sizeof(int));
        from = take(from, &a.mask[j], sizeof(int));
        if (full) {
            from = take(from, &a.molecule[j], sizeof(int));
            from = take(from, &a.q[j], sizeof(double));
        }
    }
    return sw_pack_into(buffer, from);
}

static size_t full_pack(const int *d, const void *array, void *buffer)
{
    return pack(d, array, buffer, true);
}

static size_t full_unpack(const int *d, const void *buffer, void *array)
{
    return unpack(d, buffer, array, true);
}

static size_t atomic_pack(const int *d, const void *array, void *buffer)
{
    return pack(d, array, buffer, false);
}

static size_t atomic_unpack(const int *d, const void *buffer, void *array)
{
    return unpack(d, buffer, array, false);
}

#define LAMMPS(STYLE)                                                    \
    const sw_kernel_t sw_lammps_##STYLE = {.name = "lammps_" #STYLE,     \
                                           .application = "LAMMPS",      \
                                           SW_SHAPES(STYLE##_shapes),    \
                                           .bytes = STYLE##_bytes,       \
                                           .extent = STYLE##_extent,     \
                                           .sent = STYLE##_sent,         \
                                           .received = STYLE##_received, \
                                           .pack = STYLE##_pack,         \
                                           .unpack = STYLE##_unpack,     \
                                           .begin = begin,               \
                                           .end = end}

LAMMPS(full);
LAMMPS(atomic);
