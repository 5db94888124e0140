/*
 * known_type.h - the sizes and the capture's numbers of datatypes and
 * operations.
 */
#ifndef SW_MPI_CALLS_KNOWN_TYPE_H
#define SW_MPI_CALLS_KNOWN_TYPE_H

#include "mpi/base/host.h"

typedef struct {
    MPI_Datatype handle;
    uint64_t size;              /* bytes of data in an element */
    uint16_t number;
    bool known;                 /* the entry is in use */
} sw_known_type_t;

/* Types that are in use again and again are found here; each thread has its
 * own, and `sw_known_types_age` grows when a type is freed. */
#define SW_KNOWN_TYPES 64
typedef struct {
    uint32_t age;
    sw_known_type_t at[SW_KNOWN_TYPES];
} sw_known_types_t;

extern _Atomic uint32_t sw_known_types_age
    __attribute__((visibility("hidden")));
extern __thread sw_known_types_t sw_known_types
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

const sw_known_type_t *sw_known_type_meet(MPI_Datatype type);

/* Of a valid datatype. */
static inline const sw_known_type_t *sw_known_type(MPI_Datatype type)
{
    const sw_known_type_t *t =
        &sw_known_types.at[sw_handle_mix((uintptr_t)type) % SW_KNOWN_TYPES];
    if (sw_likely(t->handle == type && t->known &&
                  sw_known_types.age ==
                      atomic_load_explicit(&sw_known_types_age,
                                           memory_order_relaxed)))
        return t;
    return sw_known_type_meet(type);
}

/* A type is being freed: its handle may come again for another. */
static inline void sw_known_type_forget(void)
{
    atomic_fetch_add_explicit(&sw_known_types_age, 1, memory_order_relaxed);
}

/* The number of an operation. */
uint16_t sw_known_op(MPI_Op op);

#endif
