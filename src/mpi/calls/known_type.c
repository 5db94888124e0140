/*
 * known_type.c - see known_type.h.
 *
 * Derived types that look alike (same constructor or name, same size) share a
 * number: a program may make new ones at each step.
 */
#include "known_type.h"

#include "mpi/base/guard.h"
#include "profile/record/catalog.h"

#include <pthread.h>
#include <string.h>

/* Of the last operation. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *combiner_name(int combiner)
{
    static const struct {
        int combiner;
        const char *name;
    } names[] = {
        {MPI_COMBINER_DUP, "dup"},
        {MPI_COMBINER_CONTIGUOUS, "contiguous"},
        {MPI_COMBINER_VECTOR, "vector"},
        {MPI_COMBINER_HVECTOR, "hvector"},
        {MPI_COMBINER_INDEXED, "indexed"},
        {MPI_COMBINER_HINDEXED, "hindexed"},
        {MPI_COMBINER_INDEXED_BLOCK, "indexed_block"},
        {MPI_COMBINER_HINDEXED_BLOCK, "hindexed_block"},
        {MPI_COMBINER_STRUCT, "struct"},
        {MPI_COMBINER_SUBARRAY, "subarray"},
        {MPI_COMBINER_DARRAY, "darray"},
        {MPI_COMBINER_RESIZED, "resized"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].combiner == combiner)
            return names[i].name;
    return "derived";
}

static uint16_t number_of(MPI_Datatype type, uint64_t size)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0, combiner = 0, a, b, c;
    host.Type_get_name(type, name, &length);
    if (!*name &&
        host.Type_get_envelope(type, &a, &b, &c, &combiner) == MPI_SUCCESS)
        strcpy(name, combiner_name(combiner));
    sw_catalog_entry_t entry = {.size = size};
    memcpy(entry.name, name, sw_min(strlen(name), sizeof entry.name - 1));
    return sw_catalog_like(SW_CATALOG_DATATYPES, &entry);
}

const sw_datatype_t *sw_known_type_meet(MPI_Datatype type)
{
    SW_INSIDE_LOCAL;
    static const sw_datatype_t nothing;
    int code;
    sw_datatype_t *d = (sw_datatype_t *)(uintptr_t)sw_datatype(
        type, MPI_COMM_SELF, &code);
    if (!d)
        return &nothing;
    if (!atomic_load(&d->number))
        atomic_store(&d->number, number_of(type, d->size));
    return d;
}

/* Predefined ones have their names; all of the program's are one. */
static const char *op_name(MPI_Op op)
{
#define NAME(name)  \
    if (op == name) \
    return #name
    NAME(MPI_SUM);
    NAME(MPI_MAX);
    NAME(MPI_MIN);
    NAME(MPI_PROD);
    NAME(MPI_LAND);
    NAME(MPI_LOR);
    NAME(MPI_LXOR);
    NAME(MPI_BAND);
    NAME(MPI_BOR);
    NAME(MPI_BXOR);
    NAME(MPI_MINLOC);
    NAME(MPI_MAXLOC);
    NAME(MPI_REPLACE);
    NAME(MPI_NO_OP);
#undef NAME
    return "user-defined";
}

uint16_t sw_known_op(MPI_Op op)
{
    static _Atomic(MPI_Op) last_op;
    static _Atomic uint16_t last;
    uint16_t number = atomic_load_explicit(&last, memory_order_acquire);
    if (number && atomic_load_explicit(&last_op, memory_order_relaxed) == op &&
        atomic_load_explicit(&last, memory_order_acquire) == number)
        return number;
    sw_catalog_entry_t entry = {.size = 0};
    strcpy(entry.name, op_name(op));
    pthread_mutex_lock(&lock);
    number = sw_catalog_like(SW_CATALOG_OPERATIONS, &entry);
    /* Both are changed by one at a time; a reader between sees 0. */
    atomic_store_explicit(&last, 0, memory_order_release);
    atomic_store_explicit(&last_op, op, memory_order_relaxed);
    atomic_store_explicit(&last, number, memory_order_release);
    pthread_mutex_unlock(&lock);
    return number;
}
