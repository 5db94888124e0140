/*
 * nas_lu.c - LU of the NAS parallel benchmarks: a line of a plane of cells,
 * each of 5 doubles, goes to the neighbour's ghost cells. In x the line is
 * contiguous (the application still packs it), in y its cells lie a row
 * apart.
 *
 * d: cells of the plane in x and in y, without the ghosts around them.
 */
#include "kernels.h"

enum { NX, NY };
enum { CELL = 5 }; /* doubles */

static const sw_kernel_shape_t x_shapes[] = {
    {SW_PUBLISHED, {12, 12}},     {SW_PUBLISHED, {33, 33}},
    {SW_PUBLISHED, {64, 64}},     {SW_PUBLISHED, {102, 102}},
    {SW_PUBLISHED, {162, 162}},   {SW_PUBLISHED, {408, 408}},
    {SW_PUBLISHED, {1020, 1020}}, {SW_EXTENDED, {4080, 32}},
    {SW_EXTENDED, {16320, 32}},   {SW_EXTENDED, {102000, 32}},
};
static const sw_kernel_shape_t y_shapes[] = {
    {SW_PUBLISHED, {12, 12}},     {SW_PUBLISHED, {33, 33}},
    {SW_PUBLISHED, {64, 64}},     {SW_PUBLISHED, {102, 102}},
    {SW_PUBLISHED, {162, 162}},   {SW_PUBLISHED, {408, 408}},
    {SW_PUBLISHED, {1020, 1020}}, {SW_EXTENDED, {32, 4080}},
    {SW_EXTENDED, {32, 16320}},   {SW_EXTENDED, {32, 102000}},
};

/* Doubles from a row to the next. */
static size_t row(const int *d)
{
    return CELL * (size_t)(d[NX] + 2);
}

static size_t extent(const int *d)
{
    return sizeof(double) * row(d) * (size_t)(d[NY] + 2);
}

static size_t x_bytes(const int *d)
{
    return sizeof(double) * CELL * (size_t)d[NX];
}

static size_t y_bytes(const int *d)
{
    return sizeof(double) * CELL * (size_t)d[NY];
}

static MPI_Datatype x_line(const int *d)
{
    MPI_Datatype line;
    MPI_Type_contiguous(CELL * d[NX], MPI_DOUBLE, &line);
    return line;
}

static MPI_Datatype y_line(const int *d)
{
    MPI_Datatype line;
    MPI_Type_vector(d[NY], CELL, (int)row(d), MPI_DOUBLE, &line);
    return line;
}

static MPI_Datatype x_sent(const int *d, size_t *at)
{
    *at = sizeof(double) * (row(d) + CELL);
    return x_line(d);
}

static MPI_Datatype x_received(const int *d, size_t *at)
{
    *at = sizeof(double) * CELL;
    return x_line(d);
}

static MPI_Datatype y_sent(const int *d, size_t *at)
{
    *at = sizeof(double) * (row(d) + CELL);
    return y_line(d);
}

static MPI_Datatype y_received(const int *d, size_t *at)
{
    *at = sizeof(double) * row(d);
    return y_line(d);
}

static size_t x_pack(const int *d, const void *array, void *buffer)
{
    const double *from = (const double *)array + row(d) + CELL;
    double *to = buffer;
    for (int i = 0; i < d[NX]; i++)
        for (int m = 0; m < CELL; m++)
            *to++ = from[i * CELL + m];
    return sw_pack_into(buffer, to);
}

static size_t x_unpack(const int *d, const void *buffer, void *array)
{
    const double *from = buffer;
    double *to = (double *)array + CELL;
    for (int i = 0; i < d[NX]; i++)
        for (int m = 0; m < CELL; m++)
            to[i * CELL + m] = *from++;
    return sw_pack_into(buffer, from);
}

static size_t y_pack(const int *d, const void *array, void *buffer)
{
    const double *from = (const double *)array + row(d) + CELL;
    double *to = buffer;
    for (int j = 0; j < d[NY]; j++)
        for (int m = 0; m < CELL; m++)
            *to++ = from[(size_t)j * row(d) + (size_t)m];
    return sw_pack_into(buffer, to);
}

static size_t y_unpack(const int *d, const void *buffer, void *array)
{
    const double *from = buffer;
    double *to = (double *)array + row(d);
    for (int j = 0; j < d[NY]; j++)
        for (int m = 0; m < CELL; m++)
            to[(size_t)j * row(d) + (size_t)m] = *from++;
    return sw_pack_into(buffer, from);
}

const sw_kernel_t sw_nas_lu_x = {.name = "nas_lu_x",
                                 .application = "NAS LU",
                                 SW_SHAPES(x_shapes),
                                 .bytes = x_bytes,
                                 .extent = extent,
                                 .sent = x_sent,
                                 .received = x_received,
                                 .pack = x_pack,
                                 .unpack = x_unpack};

const sw_kernel_t sw_nas_lu_y = {.name = "nas_lu_y",
                                 .application = "NAS LU",
                                 SW_SHAPES(y_shapes),
                                 .bytes = y_bytes,
                                 .extent = extent,
                                 .sent = y_sent,
                                 .received = y_received,
                                 .pack = y_pack,
                                 .unpack = y_unpack};
