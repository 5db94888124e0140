/*
 * datatype.h - what we remember of a datatype.
 *
 * Predefined types are looked up in a table. A derived type is examined at its
 * first use, and the result hangs on it as an attribute. So it goes with the
 * type, and the host may reuse the handle for another one.
 *
 * `dense` means that count elements are count * size contiguous bytes in
 * signature order: such a buffer is used as it is. Any other is packed
 * (buffer.h).
 */
#ifndef SW_MPI_BASE_DATATYPE_H
#define SW_MPI_BASE_DATATYPE_H

#include "registry.h"
#include "coll/reduce/kernel.h"
#include "layout/layout.h"

typedef struct sw_datatype {
    sw_registered_t registered;
    MPI_Datatype handle;
    size_t size;    /* bytes of data in an element */
    int64_t extent; /* bytes from an element to the next */
    int kernel;     /* sw_type_t, or -1: no kernel for it */
    bool dense;
    bool predefined;
    bool packs; /* our packed form is the host's */
    /* In the profile's catalogue (mpi/calls/known_type.h); 0: not asked for. */
    _Atomic uint16_t number;
    sw_layout_t *layout; /* NULL: not understood, the host packs */
    /* What it is made of (mpi/rma/accumulate.c); NULL: not asked for. */
    const struct sw_datatype *_Atomic basic;
    /* Of a derived type: receives under way that were given it, and persistent
     * sends. A program may free it meanwhile (MPI 4.1, 5.1.9). Then `handle`
     * is MPI_DATATYPE_NULL, or a copy of it where it is needed: without a
     * layout, and where it is `bound` (receives into a device's memory, users'
     * operations). */
    _Atomic int users;
    _Atomic bool bound;
    bool kept; /* freed by the program, but not by its users */
    bool gone; /* ... and the host has forgotten it */
    bool over; /* ... and so have its users */
} sw_datatype_t;

void sw_datatype_last(sw_datatype_t *d);

static inline void sw_datatype_hold(const sw_datatype_t *type)
{
    sw_datatype_t *d = (sw_datatype_t *)(uintptr_t)type;
    if (!d->predefined)
        atomic_fetch_add_explicit(&d->users, 1, memory_order_relaxed);
}

static inline void sw_datatype_drop(const sw_datatype_t *type)
{
    sw_datatype_t *d = (sw_datatype_t *)(uintptr_t)type;
    if (!d->predefined && atomic_fetch_sub(&d->users, 1) == 1)
        sw_datatype_last(d);
}

/* What is known of `type`; NULL with *code set when the host finds it invalid
 * or not committed: it has then raised its error on `comm`. For
 * MPI_DATATYPE_NULL nothing is raised and *code is MPI_SUCCESS. */
static inline const sw_datatype_t *sw_datatype(MPI_Datatype type, MPI_Comm comm,
                                               int *code);

/* A communicator of this process alone, that no other code uses and that
 * returns errors; `other` where there is none (sessions only). */
MPI_Comm sw_datatype_comm(MPI_Comm other);

/* A session ends; see sw_comm_forget_keyval. */
void sw_datatype_forget_keyval(void);

#define SW_DATATYPES_CACHED 256
extern sw_registry_cache_t sw_datatype_cache[SW_DATATYPES_CACHED]
    __attribute__((visibility("hidden")));

const sw_datatype_t *sw_datatype_slow(MPI_Datatype type, MPI_Comm comm,
                                      int *code);

/* NULL: not in the cache; the host is not asked. */
static inline const sw_datatype_t *sw_datatype_cached(MPI_Datatype type)
{
    return sw_registry_cached(sw_datatype_cache, SW_DATATYPES_CACHED,
                              (uintptr_t)type);
}

static inline const sw_datatype_t *sw_datatype(MPI_Datatype type, MPI_Comm comm,
                                               int *code)
{
    const sw_datatype_t *d = sw_datatype_cached(type);
    *code = MPI_SUCCESS;
    if (sw_likely(d))
        return d;
    return sw_datatype_slow(type, comm, code);
}

#endif
