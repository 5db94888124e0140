/*
 * kernels.h - noncontiguous messages of applications.
 *
 * A kernel is one message of one application. It has an array, or several,
 * side by side in one block of memory. It says which part the sender sends,
 * and where that part goes in the receiver's array. Two independent
 * descriptions give the part: a datatype, and the loops that pack and unpack
 * it in an application without datatypes. The benchmark finds the words that
 * the loops touch, and compares the datatypes with these (places.h).
 *
 * The patterns are those of ddtbench (Schneider, Gerstenberger, Hoefler:
 * Micro-Applications for Communication Data Access Patterns and MPI
 * Datatypes, EuroMPI 2012), written anew from their description, and a few
 * that other papers on datatypes use. Shapes marked as published are
 * ddtbench's; the others continue them, so that each kernel has messages from
 * 4 KiB to 4 MiB.
 */
#ifndef SW_BENCH_KERNELS_H
#define SW_BENCH_KERNELS_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

enum { SW_EXTENDED, SW_PUBLISHED };
enum { SW_DIMENSIONS = 9 };

typedef struct {
    int published;
    int d[SW_DIMENSIONS]; /* see each kernel */
} sw_kernel_shape_t;

typedef struct {
    const char *name, *application;
    const sw_kernel_shape_t *shapes;
    int shape_count;

    size_t (*bytes)(const int *d);  /* of the message */
    size_t (*extent)(const int *d); /* of the array */

    /* The datatypes, not committed, and where in the array they begin. */
    MPI_Datatype (*sent)(const int *d, size_t *at);
    MPI_Datatype (*received)(const int *d, size_t *at);

    /* By hand; the bytes of it. */
    size_t (*pack)(const int *d, const void *array, void *buffer);
    size_t (*unpack)(const int *d, const void *buffer, void *array);

    /* For a kernel with a list of indices: make it, drop it. Or NULL. */
    bool (*begin)(const int *d);
    void (*end)(void);
} sw_kernel_t;

#define SW_SHAPES(table) \
    .shapes = (table), .shape_count = sizeof(table) / sizeof *(table)

/* All of them, in the order in which they are measured. */
#define SW_KERNELS(X) \
    X(wrf_x_vec)      \
    X(wrf_x_sa)       \
    X(wrf_y_vec)      \
    X(wrf_y_sa)       \
    X(milc_su3_zd)    \
    X(nas_lu_x)       \
    X(nas_lu_y)       \
    X(nas_mg_x)       \
    X(nas_mg_y)       \
    X(nas_mg_z)       \
    X(specfem3d_oc)   \
    X(specfem3d_cm)   \
    X(specfem3d_mt)   \
    X(lammps_full)    \
    X(lammps_atomic)  \
    X(fft2)           \
    X(stencil2d)      \
    X(stencil3d)      \
    X(triangle)

#define SW_DECLARE(name) extern const sw_kernel_t sw_##name;
SW_KERNELS(SW_DECLARE)
#undef SW_DECLARE

/* `n` of the numbers below `of`, drawn at random but the same in every run:
 * ascending, or in no order. NULL: no memory. */
int *sw_indices(int n, int of, bool ascending);

/* What has been packed from the buffer's beginning up to `end`. */
static inline size_t sw_pack_into(const void *buffer, const void *end)
{
    return (size_t)((const char *)end - (const char *)buffer);
}

#endif
