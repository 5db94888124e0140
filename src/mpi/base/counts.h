/*
 * counts.h - an array of counts or displacements, whose elements are int in the
 * classic procedures, and MPI_Count or MPI_Aint in the large ones.
 */
#ifndef SW_MPI_BASE_COUNTS_H
#define SW_MPI_BASE_COUNTS_H

#include "node/base/base.h"

typedef struct {
    const void *at;
    size_t width; /* 4 or 8 bytes each */
} sw_vector_t;

#define SW_VECTOR(array) ((sw_vector_t){(array), sizeof *(array)})

static inline int64_t sw_counts_at(sw_vector_t v, int i)
{
    return v.width == 4 ? ((const int32_t *)v.at)[i]
                        : ((const int64_t *)v.at)[i];
}

#endif
