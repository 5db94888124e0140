/*
 * datatype.c - see datatype.h.
 */
#include "datatype.h"

#include "comm.h"
#include "decode.h"
#include "guard.h"
#include "layout/share.h"

#include <complex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

sw_registry_cache_t sw_datatype_cache[SW_DATATYPES_CACHED] = SW_REGISTRY_EMPTY(
    SW_DATATYPES_CACHED);
static sw_registry_t types = SW_REGISTRY(sw_datatype_t, sw_datatype_cache);

/* Kernels for the predefined types ------------------------------------ */

static int signed_of(size_t size)
{
    return size == 1   ? SW_INT8
           : size == 2 ? SW_INT16
           : size == 4 ? SW_INT32
           : size == 8 ? SW_INT64
                       : -1;
}

static int unsigned_of(size_t size)
{
    return size == 1   ? SW_UINT8
           : size == 2 ? SW_UINT16
           : size == 4 ? SW_UINT32
           : size == 8 ? SW_UINT64
                       : -1;
}

static int real_of(size_t size)
{
    return size == 4 ? SW_FLOAT : size == 8 ? SW_DOUBLE : -1;
}

static int complex_of(size_t size)
{
    return size == 8 ? SW_COMPLEX_FLOAT : size == 16 ? SW_COMPLEX_DOUBLE : -1;
}

typedef struct {
    MPI_Datatype type;
    int (*by_size)(size_t size); /* or NULL: */
    int kernel;
    size_t size; /* expected, for a fixed kernel */
} predefined_t;

#define FIXED(type, kernel, bytes) {type, NULL, kernel, bytes}
#define SIGNED(type) {type, signed_of, -1, 0}
#define UNSIGNED(type) {type, unsigned_of, -1, 0}

/* The class of each predefined type. Fortran's are taken by the size that the
 * host gives them; its logicals are left to the host, whose compiler decides
 * what .TRUE. looks like. MPI_CHAR, MPI_WCHAR and MPI_PACKED reduce nothing. */
static int kernel_of(MPI_Datatype type, size_t size)
{
    const predefined_t known[] = {
        SIGNED(MPI_SIGNED_CHAR),
        SIGNED(MPI_SHORT),
        SIGNED(MPI_INT),
        SIGNED(MPI_LONG),
        SIGNED(MPI_LONG_LONG_INT),
        UNSIGNED(MPI_UNSIGNED_CHAR),
        UNSIGNED(MPI_UNSIGNED_SHORT),
        UNSIGNED(MPI_UNSIGNED),
        UNSIGNED(MPI_UNSIGNED_LONG),
        UNSIGNED(MPI_UNSIGNED_LONG_LONG),
        SIGNED(MPI_INT8_T),
        SIGNED(MPI_INT16_T),
        SIGNED(MPI_INT32_T),
        SIGNED(MPI_INT64_T),
        UNSIGNED(MPI_UINT8_T),
        UNSIGNED(MPI_UINT16_T),
        UNSIGNED(MPI_UINT32_T),
        UNSIGNED(MPI_UINT64_T),
        SIGNED(MPI_AINT),
        SIGNED(MPI_COUNT),
        SIGNED(MPI_OFFSET),
        FIXED(MPI_FLOAT, SW_FLOAT, sizeof(float)),
        FIXED(MPI_DOUBLE, SW_DOUBLE, sizeof(double)),
        FIXED(MPI_LONG_DOUBLE, SW_LONG_DOUBLE, sizeof(long double)),
        FIXED(MPI_C_BOOL, SW_C_BOOL, 1),
        FIXED(MPI_BYTE, SW_BYTE, 1),
        FIXED(MPI_C_FLOAT_COMPLEX, SW_COMPLEX_FLOAT, sizeof(float complex)),
        FIXED(MPI_C_DOUBLE_COMPLEX, SW_COMPLEX_DOUBLE, sizeof(double complex)),
        FIXED(MPI_C_LONG_DOUBLE_COMPLEX, SW_COMPLEX_LONG_DOUBLE,
              sizeof(long double complex)),
        FIXED(MPI_FLOAT_INT, SW_PAIR_FLOAT_INT, 8),
        FIXED(MPI_DOUBLE_INT, SW_PAIR_DOUBLE_INT, 12),
        FIXED(MPI_LONG_INT, SW_PAIR_LONG_INT, 12),
        FIXED(MPI_2INT, SW_PAIR_INT_INT, 8),
        FIXED(MPI_SHORT_INT, SW_PAIR_SHORT_INT, 6),
        FIXED(MPI_LONG_DOUBLE_INT, SW_PAIR_LONG_DOUBLE_INT, 20),
        SIGNED(MPI_INTEGER),
        {MPI_REAL, real_of, -1, 0},
        {MPI_DOUBLE_PRECISION, real_of, -1, 0},
        {MPI_COMPLEX, complex_of, -1, 0},
        {MPI_DOUBLE_COMPLEX, complex_of, -1, 0},
        SIGNED(MPI_INTEGER1),
        SIGNED(MPI_INTEGER2),
        SIGNED(MPI_INTEGER4),
        SIGNED(MPI_INTEGER8),
        {MPI_REAL4, real_of, -1, 0},
        {MPI_REAL8, real_of, -1, 0},
        {MPI_COMPLEX8, complex_of, -1, 0},
        {MPI_COMPLEX16, complex_of, -1, 0},
        FIXED(MPI_2REAL, SW_PAIR_FLOAT_FLOAT, 8),
        FIXED(MPI_2DOUBLE_PRECISION, SW_PAIR_DOUBLE_DOUBLE, 16),
        FIXED(MPI_2INTEGER, SW_PAIR_INT_INT, 8),
    };
    if (type == MPI_DATATYPE_NULL)
        return -1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const predefined_t *k = &known[i];
        if (k->type != type)
            continue;
        return k->by_size ? k->by_size(size) : k->size == size ? k->kernel : -1;
    }
    return -1;
}

/* The same for the types that MPI_Type_create_f90_real and its kin make. */
static int kernel_of_f90(MPI_Datatype type, size_t size)
{
    int ni, na, nd, combiner;
    if (host.Type_get_envelope(type, &ni, &na, &nd, &combiner) != MPI_SUCCESS)
        return -1;
    return combiner == MPI_COMBINER_F90_REAL      ? real_of(size)
           : combiner == MPI_COMBINER_F90_COMPLEX ? complex_of(size)
           : combiner == MPI_COMBINER_F90_INTEGER ? signed_of(size)
                                                  : -1;
}

/* The table ------------------------------------------------------------ */

static int copy_attribute(MPI_Datatype type, int key, void *extra, void *value,
                          void *to, int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

static void retire(sw_datatype_t *d)
{
    if (d->layout)
        sw_layout_drop(d->layout);
    d->layout = NULL;
    d->handle = MPI_DATATYPE_NULL;
    sw_registry_spare(&types, d);
}

static int delete_attribute(MPI_Datatype type, int key, void *value,
                            void *extra)
{
    sw_datatype_t *d = value;
    pthread_mutex_lock(&types.lock);
    d->gone = true;
    bool last = !d->kept || d->over;
    pthread_mutex_unlock(&types.lock);
    sw_registry_remove(&types, d);
    if (last)
        retire(d);
    return MPI_SUCCESS;
}

/* The copy may keep what it was made from alive in the host (Open MPI), which
 * then forgets that only when the copy is freed: d may be another's by then. */
void sw_datatype_last(sw_datatype_t *d)
{
    if (sw_likely(!d->kept))
        return;
    pthread_mutex_lock(&types.lock);
    MPI_Datatype copy = d->handle;
    d->over = true;
    bool gone = d->gone;
    pthread_mutex_unlock(&types.lock);
    if (gone)
        retire(d);
    if (copy != MPI_DATATYPE_NULL)
        host.Type_free(&copy);
}

int sw_MPI_Type_free(MPI_Datatype *type)
{
    SW_INSIDE_LOCAL;
    sw_datatype_t *d = type ? sw_registry_find(&types, (uintptr_t)*type) : NULL;
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    if (d && sw_unlikely(atomic_load(&d->users)) &&
        ((d->layout && !atomic_load(&d->bound)) ||
         host.Type_dup(*type, &copy) == MPI_SUCCESS)) {
        sw_registry_remove(&types, d);
        pthread_mutex_lock(&types.lock);
        d->handle = copy;
        d->kept = true;
        pthread_mutex_unlock(&types.lock);
    }
    return host.Type_free(type);
}

void sw_datatype_forget_keyval(void)
{
    int key = sw_registry_forget_keyval(&types);
    if (key != MPI_KEYVAL_INVALID)
        host.Type_free_keyval(&key);
}

/* Where errors are returned and no handler is called: a communicator of
 * this process alone, made before the first attribute, so that no callback can
 * wait for the lock meanwhile. It tells us what the host thinks of a type; the
 * error itself is raised by the host, in the collective that we then leave to
 * it. Without MPI_COMM_SELF (sessions only) the communicator at hand takes its
 * place, and the error has been raised. */
MPI_Comm sw_datatype_comm(MPI_Comm other)
{
    static MPI_Comm own = MPI_COMM_NULL;
    if (!sw_roster_has_world())
        return other;
    pthread_mutex_lock(&types.lock);
    if (own == MPI_COMM_NULL &&
        host.Comm_split(MPI_COMM_SELF, 0, 0, &own) == MPI_SUCCESS)
        host.Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    MPI_Comm found = own == MPI_COMM_NULL ? other : own;
    pthread_mutex_unlock(&types.lock);
    return found;
}

static int attribute(void)
{
    pthread_mutex_lock(&types.lock);
    if (types.keyval == MPI_KEYVAL_INVALID)
        host.Type_create_keyval(copy_attribute, delete_attribute, &types.keyval,
                                NULL);
    pthread_mutex_unlock(&types.lock);
    return types.keyval;
}

static sw_datatype_t *meet(MPI_Datatype type, MPI_Comm comm, int *code)
{
    /* A message to MPI_PROC_NULL: may this type travel? One element it has to
     * be: some hosts look at no type whose count is zero. */
    MPI_Comm asked = sw_datatype_comm(comm);
    *code = host.Send(&types.keyval, 1, type, MPI_PROC_NULL, 0, asked);
    if (*code != MPI_SUCCESS) {
        if (asked != comm)
            *code = MPI_SUCCESS;
        return NULL;
    }
    MPI_Aint lb, extent;
    host.Type_get_extent(type, &lb, &extent);
    size_t size = sw_decode_bytes(type);
    bool named, fixed = sw_decode_predefined(type, &named);
    int kernel = named   ? kernel_of(type, size)
                 : fixed ? kernel_of_f90(type, size)
                         : -1;
    sw_doubts_t doubts;
    sw_layout_t *layout = sw_decode(type, &doubts);
    bool plain = layout && size && !doubts.vague;
    if (layout)
        layout = sw_layout_share(layout);
    bool dense = layout && (sw_layout_dense(layout) ||
                            (named && size == 0 && extent == 0));
    if (kernel >= 0 && sw_type_bytes((sw_type_t)kernel) != (size_t)extent)
        kernel = -1;
    sw_datatype_t new = {.handle = type,
                         .size = size,
                         .extent = extent,
                         .kernel = kernel,
                         .dense = dense,
                         .predefined = fixed,
                         .layout = layout,
                         .packs = plain && !doubts.odd};
    bool added;
    sw_datatype_t *d = sw_registry_put(&types, (uintptr_t)type, &new, &added);
    if ((!d || !added) && layout)
        sw_layout_drop(layout);
    if (d && added && !fixed)
        host.Type_set_attr(type, attribute(), d);
    return d;
}

const sw_datatype_t *sw_datatype_slow(MPI_Datatype type, MPI_Comm comm,
                                      int *code)
{
    if (type == MPI_DATATYPE_NULL)
        return NULL;
    sw_datatype_t *d = sw_registry_find(&types, (uintptr_t)type);
    return d ? d : meet(type, comm, code);
}
