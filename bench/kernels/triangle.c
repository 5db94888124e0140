/*
 * triangle.c - the lower triangle of a square matrix of doubles, with the
 * diagonal: rows that grow by one, in an indexed datatype.
 *
 * d: rows of the matrix. Not from a paper: messages of 4 KiB, 16 KiB and so on.
 */
#include "kernels.h"

#include <stdlib.h>

enum { N };

static const sw_kernel_shape_t shapes[] = {
    {SW_EXTENDED, {32}},  {SW_EXTENDED, {64}},  {SW_EXTENDED, {128}},
    {SW_EXTENDED, {256}}, {SW_EXTENDED, {512}}, {SW_EXTENDED, {1023}},
};

static int *lengths, *places;

static bool begin(const int *d)
{
    lengths = malloc((size_t)d[N] * sizeof *lengths);
    places = malloc((size_t)d[N] * sizeof *places);
    if (!lengths || !places)
        return false;
    for (int i = 0; i < d[N]; i++) {
        lengths[i] = i + 1;
        places[i] = i * d[N];
    }
    return true;
}

static void end(void)
{
    free(lengths);
    free(places);
    lengths = places = NULL;
}

static size_t bytes(const int *d)
{
    return sizeof(double) * (size_t)d[N] * (size_t)(d[N] + 1) / 2;
}

static size_t extent(const int *d)
{
    return sizeof(double) * (size_t)d[N] * (size_t)d[N];
}

static MPI_Datatype triangle(const int *d, size_t *at)
{
    MPI_Datatype rows;
    MPI_Type_indexed(d[N], lengths, places, MPI_DOUBLE, &rows);
    *at = 0;
    return rows;
}

static size_t pack(const int *d, const void *array, void *buffer)
{
    const double *matrix = array;
    double *to = buffer;
    for (int i = 0; i < d[N]; i++)
        for (int j = 0; j <= i; j++)
            *to++ = matrix[(size_t)i * (size_t)d[N] + (size_t)j];
    return sw_pack_into(buffer, to);
}

static size_t unpack(const int *d, const void *buffer, void *array)
{
    const double *from = buffer;
    double *matrix = array;
    for (int i = 0; i < d[N]; i++)
        for (int j = 0; j <= i; j++)
            matrix[(size_t)i * (size_t)d[N] + (size_t)j] = *from++;
    return sw_pack_into(buffer, from);
}

const sw_kernel_t sw_triangle = {.name = "triangle",
                                 .application = "lower triangle",
                                 SW_SHAPES(shapes),
                                 .bytes = bytes,
                                 .extent = extent,
                                 .sent = triangle,
                                 .received = triangle,
                                 .pack = pack,
                                 .unpack = unpack,
                                 .begin = begin,
                                 .end = end};
