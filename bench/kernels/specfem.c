/*
 * specfem.c - SPECFEM3D_GLOBE, waves through the earth by spectral elements:
 * the points that the meshes of two processes share.
 *
 *   oc  outer core: a float of each point, points by a list of indices
 *   cm  crust and mantle with the inner core: three floats (a displacement)
 *       of each point, two arrays with a list each, in one message
 *   mt  the first of 2 triples of floats of each of n points, received
 *       without gaps
 *
 * A mesh numbers its points so that those of a face ascend, at varying
 * distances; so do the random lists.
 *
 * d: oc: points, and how many of them are sent; cm: the same twice, of crust
 * and mantle, of the inner core; mt: n.
 */
#include "kernels.h"

#include <stdlib.h>

enum { CM, CM_SENT, IC, IC_SENT };
enum { POINTS, SENT };
enum { TRIPLE = 3, TRIPLES = 2 };

static const sw_kernel_shape_t oc_shapes[] = {
    {SW_PUBLISHED, {3697, 493}},      {SW_PUBLISHED, {12857, 877}},
    {SW_PUBLISHED, {38585, 1897}},    {SW_PUBLISHED, {88881, 3225}},
    {SW_EXTENDED, {355524, 12900}},   {SW_EXTENDED, {1422096, 51600}},
    {SW_EXTENDED, {5688384, 206400}}, {SW_EXTENDED, {22753536, 825600}},
};
static const sw_kernel_shape_t cm_shapes[] = {
    {SW_EXTENDED, {9982, 489, 306, 61}},
    {SW_PUBLISHED, {39929, 1957, 1225, 245}},
    {SW_PUBLISHED, {152001, 3801, 7209, 801}},
    {SW_PUBLISHED, {396849, 7125, 22477, 1729}},
    {SW_PUBLISHED, {834917, 11797, 51153, 3009}},
    {SW_EXTENDED, {1669834, 47188, 102306, 12036}},
    {SW_EXTENDED, {6679336, 188752, 409224, 48144}},
};
static const sw_kernel_shape_t mt_shapes[] = {
    {SW_EXTENDED, {350}},   {SW_EXTENDED, {1400}},  {SW_PUBLISHED, {5600}},
    {SW_PUBLISHED, {6200}}, {SW_PUBLISHED, {6400}}, {SW_PUBLISHED, {7600}},
    {SW_EXTENDED, {22400}}, {SW_EXTENDED, {89600}}, {SW_EXTENDED, {349000}},
};

static int *list, *inner; /* of the points; of the inner core's */

static void end(void)
{
    free(list);
    free(inner);
    list = inner = NULL;
}

/* The outer core --------------------------------------------------------- */

static size_t oc_bytes(const int *d)
{
    return sizeof(float) * (size_t)d[SENT];
}

static size_t oc_extent(const int *d)
{
    return sizeof(float) * (size_t)d[POINTS];
}

static bool oc_begin(const int *d)
{
    list = sw_indices(d[SENT], d[POINTS], true);
    return list;
}

static MPI_Datatype oc_type(const int *d, size_t *at)
{
    MPI_Datatype points;
    MPI_Type_create_indexed_block(d[SENT], 1, list, MPI_FLOAT, &points);
    *at = 0;
    return points;
}

static size_t oc_pack(const int *d, const void *array, void *buffer)
{
    const float *from = array;
    float *to = buffer;
    for (int i = 0; i < d[SENT]; i++)
        to[i] = from[list[i]];
    return sw_pack_into(buffer, to + d[SENT]);
}

static size_t oc_unpack(const int *d, const void *buffer, void *array)
{
    const float *from = buffer;
    float *to = array;
    for (int i = 0; i < d[SENT]; i++)
        to[list[i]] = from[i];
    return sw_pack_into(buffer, from + d[SENT]);
}

/* Crust and mantle, inner core ------------------------------------------- */

static size_t cm_bytes(const int *d)
{
    return sizeof(float) * TRIPLE * (size_t)(d[CM_SENT] + d[IC_SENT]);
}

static size_t cm_extent(const int *d)
{
    return sizeof(float) * TRIPLE * (size_t)(d[CM] + d[IC]);
}

static bool cm_begin(const int *d)
{
    list = sw_indices(d[CM_SENT], d[CM], true);
    inner = sw_indices(d[IC_SENT], d[IC], true);
    return list && inner;
}

/* Triples by a list of points. */
static MPI_Datatype triples(int n, const int *points)
{
    MPI_Datatype triple, all;
    MPI_Type_contiguous(TRIPLE, MPI_FLOAT, &triple);
    MPI_Type_create_indexed_block(n, 1, points, triple, &all);
    MPI_Type_free(&triple);
    return all;
}

static MPI_Datatype cm_type(const int *d, size_t *at)
{
    MPI_Datatype both,
        parts[] = {triples(d[CM_SENT], list), triples(d[IC_SENT], inner)};
    MPI_Aint places[] = {0, (MPI_Aint)sizeof(float) * TRIPLE * d[CM]};
    MPI_Type_create_struct(2, (int[]){1, 1}, places, parts, &both);
    MPI_Type_free(&parts[0]);
    MPI_Type_free(&parts[1]);
    *at = 0;
    return both;
}

static float *pack_triples(int n, const int *points, const float *from,
                           float *to)
{
    for (int i = 0; i < n; i++)
        for (int c = 0; c < TRIPLE; c++)
            *to++ = from[TRIPLE * (size_t)points[i] + (size_t)c];
    return to;
}

static const float *unpack_triples(int n, const int *points, const float *from,
                                   float *to)
{
    for (int i = 0; i < n; i++)
        for (int c = 0; c < TRIPLE; c++)
            to[TRIPLE * (size_t)points[i] + (size_t)c] = *from++;
    return from;
}

static size_t cm_pack(const int *d, const void *array, void *buffer)
{
    const float *crust = array, *core = crust + TRIPLE * (size_t)d[CM];
    float *to = pack_triples(d[CM_SENT], list, crust, buffer);
    return sw_pack_into(buffer, pack_triples(d[IC_SENT], inner, core, to));
}

static size_t cm_unpack(const int *d, const void *buffer, void *array)
{
    float *crust = array, *core = crust + TRIPLE * (size_t)d[CM];
    const float *from = unpack_triples(d[CM_SENT], list, buffer, crust);
    return sw_pack_into(buffer, unpack_triples(d[IC_SENT], inner, from, core));
}

/* Every other triple ----------------------------------------------------- */

static size_t mt_bytes(const int *d)
{
    return sizeof(float) * TRIPLE * (size_t)d[POINTS];
}

static size_t mt_extent(const int *d)
{
    return TRIPLES * mt_bytes(d);
}

static MPI_Datatype mt_sent(const int *d, size_t *at)
{
    MPI_Datatype triple, all;
    MPI_Type_contiguous(TRIPLE, MPI_FLOAT, &triple);
    MPI_Type_vector(d[POINTS], 1, TRIPLES, triple, &all);
    MPI_Type_free(&triple);
    *at = 0;
    return all;
}

static MPI_Datatype mt_received(const int *d, size_t *at)
{
    MPI_Datatype all;
    MPI_Type_contiguous(TRIPLE * d[POINTS], MPI_FLOAT, &all);
    *at = 0;
    return all;
}

static size_t mt_pack(const int *d, const void *array, void *buffer)
{
    const float *from = array;
    float *to = buffer;
    for (int i = 0; i < d[POINTS]; i++)
        for (int c = 0; c < TRIPLE; c++)
            *to++ = from[i * TRIPLE * TRIPLES + c];
    return sw_pack_into(buffer, to);
}

static size_t mt_unpack(const int *d, const void *buffer, void *array)
{
    const float *from = buffer;
    float *to = array;
    for (int i = 0; i < d[POINTS]; i++)
        for (int c = 0; c < TRIPLE; c++)
            *to++ = *from++;
    return sw_pack_into(buffer, from);
}

const sw_kernel_t sw_specfem3d_oc = {.name = "specfem3d_oc",
                                     .application = "SPECFEM3D",
                                     SW_SHAPES(oc_shapes),
                                     .bytes = oc_bytes,
                                     .extent = oc_extent,
                                     .sent = oc_type,
                                     .received = oc_type,
                                     .pack = oc_pack,
                                     .unpack = oc_unpack,
                                     .begin = oc_begin,
                                     .end = end};

const sw_kernel_t sw_specfem3d_cm = {.name = "specfem3d_cm",
                                     .application = "SPECFEM3D",
                                     SW_SHAPES(cm_shapes),
                                     .bytes = cm_bytes,
                                     .extent = cm_extent,
                                     .sent = cm_type,
                                     .received = cm_type,
                                     .pack = cm_pack,
                                     .unpack = cm_unpack,
                                     .begin = cm_begin,
                                     .end = end};

const sw_kernel_t sw_specfem3d_mt = {.name = "specfem3d_mt",
                                     .application = "SPECFEM3D",
                                     SW_SHAPES(mt_shapes),
                                     .bytes = mt_bytes,
                                     .extent = mt_extent,
                                     .sent = mt_sent,
                                     .received = mt_received,
                                     .pack = mt_pack,
                                     .unpack = mt_unpack};
