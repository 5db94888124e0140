/*
 * stencil.c - the halo of a stencil of reach two, in two and in
 * three dimensions: the last two columns (planes in x) of a grid of doubles
 * go to the neighbour's halo, by subarrays. Runs are 16 bytes.
 *
 * d: cells in x, y and z (1 in two dimensions), without the halo. Not from a
 * paper: messages of 4 KiB, 16 KiB and so on.
 */
#include "kernels.h"

enum { X, Y, Z };
enum { REACH = 2 };

static const sw_kernel_shape_t flat_shapes[] = {
    {SW_EXTENDED, {256, 256, 1}},   {SW_EXTENDED, {1024, 1024, 1}},
    {SW_EXTENDED, {1024, 4096, 1}}, {SW_EXTENDED, {512, 16384, 1}},
    {SW_EXTENDED, {128, 65536, 1}}, {SW_EXTENDED, {32, 262144, 1}},
};
static const sw_kernel_shape_t deep_shapes[] = {
    {SW_EXTENDED, {16, 16, 16}},   {SW_EXTENDED, {32, 32, 32}},
    {SW_EXTENDED, {64, 64, 64}},   {SW_EXTENDED, {128, 128, 128}},
    {SW_EXTENDED, {64, 256, 256}}, {SW_EXTENDED, {32, 512, 512}},
};

static size_t with_halo(int n)
{
    return (size_t)(n + 2 * REACH);
}

/* Where the planes begin and how many there are, with their halo. */
static size_t first_plane(const int *d)
{
    return d[Z] > 1 ? REACH : 0;
}

static size_t planes(const int *d)
{
    return d[Z] > 1 ? with_halo(d[Z]) : 1;
}

static size_t bytes(const int *d)
{
    return sizeof(double) * REACH * (size_t)d[Y] * (size_t)d[Z];
}

static size_t extent(const int *d)
{
    return sizeof(double) * with_halo(d[X]) * with_halo(d[Y]) * planes(d);
}

/* The double at column x of an inner row. */
static inline size_t cell(const int *d, int x, int y, int z)
{
    size_t row = (first_plane(d) + (size_t)z) * with_halo(d[Y]) +
                 (size_t)(y + REACH);
    return row * with_halo(d[X]) + (size_t)x;
}

static MPI_Datatype columns(const int *d, int first)
{
    MPI_Datatype part;
    int sizes[] = {(int)planes(d), (int)with_halo(d[Y]), (int)with_halo(d[X])};
    int parts[] = {d[Z], d[Y], REACH};
    int starts[] = {(int)first_plane(d), REACH, first};
    int skip = d[Z] == 1;
    MPI_Type_create_subarray(3 - skip, sizes + skip, parts + skip,
                             starts + skip, MPI_ORDER_C, MPI_DOUBLE, &part);
    return part;
}

static MPI_Datatype sent(const int *d, size_t *at)
{
    *at = 0;
    return columns(d, d[X]);
}

static MPI_Datatype received(const int *d, size_t *at)
{
    *at = 0;
    return columns(d, 0);
}

static size_t pack(const int *d, const void *array, void *buffer)
{
    const double *grid = array;
    double *to = buffer;
    for (int z = 0; z < d[Z]; z++)
        for (int y = 0; y < d[Y]; y++)
            for (int x = 0; x < REACH; x++)
                *to++ = grid[cell(d, d[X] + x, y, z)];
    return sw_pack_into(buffer, to);
}

static size_t unpack(const int *d, const void *buffer, void *array)
{
    const double *from = buffer;
    double *grid = array;
    for (int z = 0; z < d[Z]; z++)
        for (int y = 0; y < d[Y]; y++)
            for (int x = 0; x < REACH; x++)
                grid[cell(d, x, y, z)] = *from++;
    return sw_pack_into(buffer, from);
}

const sw_kernel_t sw_stencil2d = {.name = "stencil2d",
                                  .application = "stencil",
                                  SW_SHAPES(flat_shapes),
                                  .bytes = bytes,
                                  .extent = extent,
                                  .sent = sent,
                                  .received = received,
                                  .pack = pack,
                                  .unpack = unpack};

const sw_kernel_t sw_stencil3d = {.name = "stencil3d",
                                  .application = "stencil",
                                  SW_SHAPES(deep_shapes),
                                  .bytes = bytes,
                                  .extent = extent,
                                  .sent = sent,
                                  .received = received,
                                  .pack = pack,
                                  .unpack = unpack};
