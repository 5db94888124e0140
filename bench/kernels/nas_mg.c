/*
 * nas_mg.c - MG of the NAS parallel benchmarks: the faces of a cube of
 * doubles, x fastest, that go to the neighbour's ghosts. The face in x is of
 * single doubles, those in y and z of rows, which lie a plane or a row apart.
 *
 * d: the extents in x, y and z, with one ghost on either side. The last ones
 * are thin where they may be, so that they fit into memory.
 */
#include "kernels.h"

enum { X, Y, Z };

static const sw_kernel_shape_t x_shapes[] = {
    {SW_PUBLISHED, {34, 18, 18}},    {SW_EXTENDED, {66, 34, 34}},
    {SW_PUBLISHED, {130, 66, 66}},   {SW_PUBLISHED, {258, 130, 130}},
    {SW_PUBLISHED, {514, 258, 258}}, {SW_EXTENDED, {34, 726, 726}},
};
static const sw_kernel_shape_t y_shapes[] = {
    {SW_PUBLISHED, {34, 18, 18}},    {SW_EXTENDED, {66, 34, 34}},
    {SW_PUBLISHED, {130, 66, 66}},   {SW_PUBLISHED, {258, 130, 130}},
    {SW_PUBLISHED, {514, 258, 258}}, {SW_EXTENDED, {1026, 18, 514}},
};
static const sw_kernel_shape_t z_shapes[] = {
    {SW_PUBLISHED, {34, 18, 18}},    {SW_EXTENDED, {66, 34, 34}},
    {SW_PUBLISHED, {130, 66, 66}},   {SW_PUBLISHED, {258, 130, 130}},
    {SW_PUBLISHED, {514, 258, 258}}, {SW_EXTENDED, {1026, 514, 18}},
};

static size_t extent(const int *d)
{
    return sizeof(double) * (size_t)d[X] * (size_t)d[Y] * (size_t)d[Z];
}

/* Where a cell lies, in doubles. */
static inline size_t cell(const int *d, int x, int y, int z)
{
    return ((size_t)z * (size_t)d[Y] + (size_t)y) * (size_t)d[X] + (size_t)x;
}

static size_t x_bytes(const int *d)
{
    return sizeof(double) * (size_t)(d[Y] - 2) * (size_t)(d[Z] - 2);
}

static size_t y_bytes(const int *d)
{
    return sizeof(double) * (size_t)(d[X] - 2) * (size_t)(d[Z] - 2);
}

static size_t z_bytes(const int *d)
{
    return sizeof(double) * (size_t)(d[X] - 2) * (size_t)(d[Y] - 2);
}

static MPI_Datatype x_face(const int *d)
{
    MPI_Datatype line, face;
    MPI_Type_vector(d[Y] - 2, 1, d[X], MPI_DOUBLE, &line);
    MPI_Type_create_hvector(d[Z] - 2, 1, (MPI_Aint)sizeof(double) * d[X] * d[Y],
                            line, &face);
    MPI_Type_free(&line);
    return face;
}

static MPI_Datatype y_face(const int *d)
{
    MPI_Datatype face;
    MPI_Type_vector(d[Z] - 2, d[X] - 2, d[X] * d[Y], MPI_DOUBLE, &face);
    return face;
}

static MPI_Datatype z_face(const int *d)
{
    MPI_Datatype face;
    MPI_Type_vector(d[Y] - 2, d[X] - 2, d[X], MPI_DOUBLE, &face);
    return face;
}

static MPI_Datatype x_sent(const int *d, size_t *at)
{
    *at = sizeof(double) * cell(d, d[X] - 2, 1, 1);
    return x_face(d);
}

static MPI_Datatype x_received(const int *d, size_t *at)
{
    *at = sizeof(double) * cell(d, 0, 1, 1);
    return x_face(d);
}

static MPI_Datatype y_sent(const int *d, size_t *at)
{
    *at = sizeof(double) * cell(d, 1, d[Y] - 2, 1);
    return y_face(d);
}

static MPI_Datatype y_received(const int *d, size_t *at)
{
    *at = sizeof(double) * cell(d, 1, 0, 1);
    return y_face(d);
}

static MPI_Datatype z_sent(const int *d, size_t *at)
{
    *at = sizeof(double) * cell(d, 1, 1, d[Z] - 2);
    return z_face(d);
}

static MPI_Datatype z_received(const int *d, size_t *at)
{
    *at = sizeof(double) * cell(d, 1, 1, 0);
    return z_face(d);
}

static size_t x_pack(const int *d, const void *array, void *buffer)
{
    const double *u = array;
    double *to = buffer;
    for (int z = 1; z < d[Z] - 1; z++)
        for (int y = 1; y < d[Y] - 1; y++)
            *to++ = u[cell(d, d[X] - 2, y, z)];
    return sw_pack_into(buffer, to);
}

static size_t x_unpack(const int *d, const void *buffer, void *array)
{
    const double *from = buffer;
    double *u = array;
    for (int z = 1; z < d[Z] - 1; z++)
        for (int y = 1; y < d[Y] - 1; y++)
            u[cell(d, 0, y, z)] = *from++;
    return sw_pack_into(buffer, from);
}

static size_t y_pack(const int *d, const void *array, void *buffer)
{
    const double *u = array;
    double *to = buffer;
    for (int z = 1; z < d[Z] - 1; z++)
        for (int x = 1; x < d[X] - 1; x++)
            *to++ = u[cell(d, x, d[Y] - 2, z)];
    return sw_pack_into(buffer, to);
}

static size_t y_unpack(const int *d, const void *buffer, void *array)
{
    const double *from = buffer;
    double *u = array;
    for (int z = 1; z < d[Z] - 1; z++)
        for (int x = 1; x < d[X] - 1; x++)
            u[cell(d, x, 0, z)] = *from++;
    return sw_pack_into(buffer, from);
}

static size_t z_pack(const int *d, const void *array, void *buffer)
{
    const double *u = array;
    double *to = buffer;
    for (int y = 1; y < d[Y] - 1; y++)
        for (int x = 1; x < d[X] - 1; x++)
            *to++ = u[cell(d, x, y, d[Z] - 2)];
    return sw_pack_into(buffer, to);
}

static size_t z_unpack(const int *d, const void *buffer, void *array)
{
    const double *from = buffer;
    double *u = array;
    for (int y = 1; y < d[Y] - 1; y++)
        for (int x = 1; x < d[X] - 1; x++)
            u[cell(d, x, y, 0)] = *from++;
    return sw_pack_into(buffer, from);
}

#define MG(AXIS)                                                       \
    const sw_kernel_t sw_nas_mg_##AXIS = {.name = "nas_mg_" #AXIS,     \
                                          .application = "NAS MG",     \
                                          SW_SHAPES(AXIS##_shapes),    \
                                          .bytes = AXIS##_bytes,       \
                                          .extent = extent,            \
                                          .sent = AXIS##_sent,         \
                                          .received = AXIS##_received, \
                                          .pack = AXIS##_pack,         \
                                          .unpack = AXIS##_unpack}

MG(x);
MG(y);
MG(z);
