/*
 * fft2.c - a Fourier transform in two dimensions. It transposes the matrix
 * between the transforms of the rows and those of the columns. Each of 4
 * processes has a slab of n/4 rows, and sends to each other the square of that
 * one's columns. It sends by rows and receives by columns, so the square
 * arrives transposed.
 *
 * d: n, rows and columns of the matrix of complex doubles.
 */
#include "kernels.h"

#include <complex.h>

enum { N };
enum { PROCESSES = 4, TO = 1, FROM = 2 };

static const sw_kernel_shape_t shapes[] = {
    {SW_EXTENDED, {64}},    {SW_EXTENDED, {128}},  {SW_PUBLISHED, {256}},
    {SW_PUBLISHED, {512}},  {SW_PUBLISHED, {768}}, {SW_PUBLISHED, {1024}},
    {SW_PUBLISHED, {1536}}, {SW_EXTENDED, {2048}},
};

typedef double complex number_t;

static int share(const int *d)
{
    return d[N] / PROCESSES;
}

static size_t bytes(const int *d)
{
    return sizeof(number_t) * (size_t)share(d) * (size_t)share(d);
}

static size_t extent(const int *d)
{
    return sizeof(number_t) * (size_t)share(d) * (size_t)d[N];
}

static MPI_Datatype sent(const int *d, size_t *at)
{
    MPI_Datatype number, rows;
    MPI_Type_contiguous(2, MPI_DOUBLE, &number);
    MPI_Type_vector(share(d), share(d), d[N], number, &rows);
    MPI_Type_free(&number);
    *at = sizeof(number_t) * TO * (size_t)share(d);
    return rows;
}

static MPI_Datatype received(const int *d, size_t *at)
{
    MPI_Datatype number, column, columns;
    MPI_Type_contiguous(2, MPI_DOUBLE, &number);
    MPI_Type_vector(share(d), 1, d[N], number, &column);
    MPI_Type_create_hvector(share(d), 1, sizeof(number_t), column, &columns);
    MPI_Type_free(&number);
    MPI_Type_free(&column);
    *at = sizeof(number_t) * FROM * (size_t)share(d);
    return columns;
}

static size_t pack(const int *d, const void *array, void *buffer)
{
    const number_t *slab = (const number_t *)array + TO * share(d);
    number_t *to = buffer;
    int n = share(d);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            *to++ = slab[(size_t)i * (size_t)d[N] + (size_t)j];
    return sw_pack_into(buffer, to);
}

static size_t unpack(const int *d, const void *buffer, void *array)
{
    const number_t *from = buffer;
    number_t *slab = (number_t *)array + FROM * share(d);
    int n = share(d);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            slab[(size_t)j * (size_t)d[N] + (size_t)i] = *from++;
    return sw_pack_into(buffer, from);
}

const sw_kernel_t sw_fft2 = {.name = "fft2",
                             .application = "FFT2",
                             SW_SHAPES(shapes),
                             .bytes = bytes,
                             .extent = extent,
                             .sent = sent,
                             .received = received,
                             .pack = pack,
                             .unpack = unpack};
