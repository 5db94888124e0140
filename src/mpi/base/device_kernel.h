/*
 * device_kernel.h - which kernel of a device reduces with an operation.
 */
#ifndef SW_MPI_BASE_DEVICE_KERNEL_H
#define SW_MPI_BASE_DEVICE_KERNEL_H

#include "op.h"
#include "device/combine.h"

typedef struct {
    int place;      /* in SW_REDUCTIONS; -1: there is none */
    unsigned each;  /* the kernel's elements in one of MPI's */
    unsigned align; /* bytes: addresses that the kernel takes are multiples */
} sw_device_kernel_t;

/* All members of a collective see the same: by the operation and the basic
 * type, of which MPI demands one. */
sw_device_kernel_t sw_device_kernel(const sw_operation_t *o);

/* Do elements at this address suit the kernel? */
static inline bool sw_device_kernel_takes(sw_device_kernel_t k, const void *at)
{
    return (uintptr_t)at % k.align == 0;
}

#endif
