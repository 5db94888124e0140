/*
 * milc.c - MILC, lattice quantum chromodynamics: the face of a lattice in
 * four dimensions, in the direction down z.
 *
 * A site has three complex numbers (su3), 24 bytes. Sites of even parity come
 * first, those of odd parity behind them, each half with x fastest, then y,
 * z and t. A face has X*Y/2 sites in a row for each t of each half: a vector
 * of vectors.
 *
 * d: the lattice's extents x, y, z and t.
 */
#include "kernels.h"

enum { X, Y, Z, T };
enum { FLOATS = 6, HALVES = 2 }; /* of a site; of the lattice */

static const sw_kernel_shape_t shapes[] = {
    {SW_EXTENDED, {4, 8, 8, 8}},      {SW_PUBLISHED, {8, 8, 8, 8}},
    {SW_PUBLISHED, {8, 8, 8, 16}},    {SW_PUBLISHED, {8, 16, 16, 16}},
    {SW_PUBLISHED, {16, 16, 16, 16}}, {SW_EXTENDED, {32, 32, 16, 16}},
    {SW_EXTENDED, {32, 32, 16, 64}},  {SW_EXTENDED, {64, 32, 16, 64}},
};

/* Floats in a row, from one t to the next, in a half. */
static int row(const int *d)
{
    return FLOATS * d[X] * d[Y] / HALVES;
}

static int step(const int *d)
{
    return row(d) * d[Z];
}

static size_t half(const int *d)
{
    return (size_t)step(d) * (size_t)d[T];
}

static size_t bytes(const int *d)
{
    return sizeof(float) * HALVES * (size_t)row(d) * (size_t)d[T];
}

static size_t extent(const int *d)
{
    return sizeof(float) * HALVES * half(d);
}

static MPI_Datatype face(const int *d)
{
    MPI_Datatype site, one, both;
    MPI_Type_contiguous(FLOATS, MPI_FLOAT, &site);
    MPI_Type_vector(d[T], row(d) / FLOATS, step(d) / FLOATS, site, &one);
    MPI_Type_create_hvector(HALVES, 1, (MPI_Aint)(sizeof(float) * half(d)), one,
                            &both);
    MPI_Type_free(&site);
    MPI_Type_free(&one);
    return both;
}

static MPI_Datatype sent(const int *d, size_t *at)
{
    *at = 0;
    return face(d);
}

static MPI_Datatype received(const int *d, size_t *at)
{
    *at = sizeof(float) * (size_t)row(d) * (size_t)(d[Z] - 1);
    return face(d);
}

static size_t pack(const int *d, const void *array, void *buffer)
{
    const float *lattice = array;
    float *to = buffer;
    int n = row(d);
    for (int h = 0; h < HALVES; h++)
        for (int t = 0; t < d[T]; t++) {
            const float *from = lattice + (size_t)h * half(d) +
                                (size_t)t * (size_t)step(d);
            for (int i = 0; i < n; i++)
                *to++ = from[i];
        }
    return sw_pack_into(buffer, to);
}

static size_t unpack(const int *d, const void *buffer, void *array)
{
    const float *from = buffer;
    float *lattice = array;
    int n = row(d);
    for (int h = 0; h < HALVES; h++)
        for (int t = 0; t < d[T]; t++) {
            float *to = lattice + (size_t)h * half(d) +
                        (size_t)(t * d[Z] + d[Z] - 1) * (size_t)n;
            for (int i = 0; i < n; i++)
                to[i] = *from++;
        }
    return sw_pack_into(buffer, from);
}

const sw_kernel_t sw_milc_su3_zd = {.name = "milc_su3_zd",
                                    .application = "MILC",
                                    SW_SHAPES(shapes),
                                    .bytes = bytes,
                                    .extent = extent,
                                    .sent = sent,
                                    .received = received,
                                    .pack = pack,
                                    .unpack = unpack};
