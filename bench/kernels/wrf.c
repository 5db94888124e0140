/*
 * wrf.c - the halo exchange of WRF, a weather model: one message has the
 * borders of many fields. 4 of them have two dimensions, and 3 have three.
 * 2 have four dimensions: of each, the message has one scalar's border.
 *
 * Fields are of floats, i fastest, then k (height), then j, then the scalar.
 * In x the border is 3 wide in i, so the runs are 12 bytes; in y it is 3 wide
 * in j, and the runs are rows. A field's border is a vector (of vectors), or
 * a subarray; a struct holds all of them.
 *
 * d: extents in memory of i, k and j; the border's first i and its length;
 * its first j and its length; first i and first j of the halo it goes to.
 * The published ones are the test em_b_wave on 2x2 to 8x8 processes.
 */
#include "kernels.h"

enum { I, K, J, I0, NI, J0, NJ, TO_I, TO_J };
enum { FLAT = 4, DEEP = 3, SCALARS = 2, FIELDS = FLAT + DEEP + SCALARS };

static const sw_kernel_shape_t x_shapes[] = {
    {SW_EXTENDED, {19, 17, 12, 9, 3, 4, 4, 12, 4}},
    {SW_EXTENDED, {19, 65, 12, 9, 3, 4, 4, 12, 4}},
    {SW_PUBLISHED, {19, 65, 24, 9, 3, 4, 16, 12, 4}},
    {SW_PUBLISHED, {24, 65, 34, 14, 3, 4, 26, 17, 4}},
    {SW_PUBLISHED, {32, 65, 52, 22, 3, 4, 44, 25, 4}},
    {SW_EXTENDED, {32, 65, 264, 22, 3, 4, 256, 25, 4}},
    {SW_EXTENDED, {32, 65, 1032, 22, 3, 4, 1024, 25, 4}},
};
static const sw_kernel_shape_t y_shapes[] = {
    {SW_EXTENDED, {12, 17, 24, 4, 4, 7, 3, 4, 4}},
    {SW_EXTENDED, {12, 65, 24, 4, 4, 7, 3, 4, 4}},
    {SW_PUBLISHED, {19, 65, 24, 4, 11, 7, 3, 4, 4}},
    {SW_PUBLISHED, {22, 65, 30, 4, 14, 7, 3, 4, 4}},
    {SW_PUBLISHED, {24, 65, 34, 4, 16, 7, 3, 4, 4}},
    {SW_PUBLISHED, {27, 65, 41, 4, 19, 7, 3, 4, 4}},
    {SW_PUBLISHED, {32, 65, 52, 5, 23, 7, 3, 5, 4}},
    {SW_EXTENDED, {264, 65, 14, 4, 256, 7, 3, 4, 4}},
    {SW_EXTENDED, {1032, 65, 14, 4, 1024, 7, 3, 4, 4}},
};

static size_t plane(const int *d)
{
    return (size_t)d[I] * (size_t)d[J];
}

static size_t volume(const int *d)
{
    return plane(d) * (size_t)d[K];
}

static size_t bytes(const int *d)
{
    return sizeof(float) * (size_t)(d[NI] * d[NJ]) *
           (size_t)(FLAT + (DEEP + SCALARS) * d[K]);
}

static size_t extent(const int *d)
{
    return sizeof(float) * (FLAT * plane(d) + (DEEP + 2 * SCALARS) * volume(d));
}

/* The first float of a field; of the scalars the second is sent. */
static size_t place(const int *d, int field)
{
    size_t f = (size_t)field;
    if (f < FLAT)
        return f * plane(d);
    if (f < FLAT + DEEP)
        return FLAT * plane(d) + (f - FLAT) * volume(d);
    return FLAT * plane(d) + (DEEP + 2 * (f - FLAT - DEEP) + 1) * volume(d);
}

static int height(const int *d, int field)
{
    return field < FLAT ? 1 : d[K];
}

/* One field's part as vectors; *at: where it begins in the field. */
static MPI_Datatype vectors(const int *d, int field, int i0, int j0, size_t *at)
{
    int k = height(d, field);
    MPI_Datatype level, all;
    MPI_Type_vector(k, d[NI], d[I], MPI_FLOAT, &level);
    MPI_Type_create_hvector(d[NJ], 1, (MPI_Aint)sizeof(float) * d[I] * k, level,
                            &all);
    MPI_Type_free(&level);
    *at = (size_t)j0 * (size_t)(d[I] * k) + (size_t)i0;
    return all;
}

static MPI_Datatype subarray(const int *d, int field, int i0, int j0)
{
    MPI_Datatype all;
    if (field < FLAT)
        MPI_Type_create_subarray(2, (int[]){d[J], d[I]}, (int[]){d[NJ], d[NI]},
                                 (int[]){j0, i0}, MPI_ORDER_C, MPI_FLOAT, &all);
    else
        MPI_Type_create_subarray(
            3, (int[]){d[J], d[K], d[I]}, (int[]){d[NJ], d[K], d[NI]},
            (int[]){j0, 0, i0}, MPI_ORDER_C, MPI_FLOAT, &all);
    return all;
}

static MPI_Datatype fields(const int *d, int i0, int j0, bool by_vectors)
{
    MPI_Datatype parts[FIELDS], all;
    MPI_Aint places[FIELDS];
    int ones[FIELDS];
    for (int f = 0; f < FIELDS; f++) {
        size_t at = 0;
        parts[f] = by_vectors ? vectors(d, f, i0, j0, &at)
                              : subarray(d, f, i0, j0);
        places[f] = (MPI_Aint)(sizeof(float) * (place(d, f) + at));
        ones[f] = 1;
    }
    MPI_Type_create_struct(FIELDS, ones, places, parts, &all);
    for (int f = 0; f < FIELDS; f++)
        MPI_Type_free(&parts[f]);
    return all;
}

static MPI_Datatype sent_vectors(const int *d, size_t *at)
{
    *at = 0;
    return fields(d, d[I0], d[J0], true);
}

static MPI_Datatype received_vectors(const int *d, size_t *at)
{
    *at = 0;
    return fields(d, d[TO_I], d[TO_J], true);
}

static MPI_Datatype sent_subarrays(const int *d, size_t *at)
{
    *at = 0;
    return fields(d, d[I0], d[J0], false);
}

static MPI_Datatype received_subarrays(const int *d, size_t *at)
{
    *at = 0;
    return fields(d, d[TO_I], d[TO_J], false);
}

static size_t pack(const int *d, const void *array, void *buffer)
{
    float *to = buffer;
    for (int f = 0; f < FIELDS; f++) {
        const float *field = (const float *)array + place(d, f);
        int levels = height(d, f);
        for (int j = d[J0]; j < d[J0] + d[NJ]; j++)
            for (int k = 0; k < levels; k++)
                for (int i = d[I0]; i < d[I0] + d[NI]; i++)
                    *to++ = field[((size_t)j * levels + k) * d[I] + i];
    }
    return sw_pack_into(buffer, to);
}

static size_t unpack(const int *d, const void *buffer, void *array)
{
    const float *from = buffer;
    for (int f = 0; f < FIELDS; f++) {
        float *field = (float *)array + place(d, f);
        int levels = height(d, f);
        for (int j = d[TO_J]; j < d[TO_J] + d[NJ]; j++)
            for (int k = 0; k < levels; k++)
                for (int i = d[TO_I]; i < d[TO_I] + d[NI]; i++)
                    field[((size_t)j * levels + k) * d[I] + i] = *from++;
    }
    return sw_pack_into(buffer, from);
}

#define WRF(NAME, SHAPES, KIND)                                 \
    const sw_kernel_t sw_##NAME = {.name = #NAME,               \
                                   .application = "WRF",        \
                                   SW_SHAPES(SHAPES),           \
                                   .bytes = bytes,              \
                                   .extent = extent,            \
                                   .sent = sent_##KIND,         \
                                   .received = received_##KIND, \
                                   .pack = pack,                \
                                   .unpack = unpack}

WRF(wrf_x_vec, x_shapes, vectors);
WRF(wrf_x_sa, x_shapes, subarrays);
WRF(wrf_y_vec, y_shapes, vectors);
WRF(wrf_y_sa, y_shapes, subarrays);
