/*
 * loose.h - elements with their gaps, in memory of ours.
 *
 * A user's operation gets elements as their datatype places them. Each member
 * has its own datatype: another member's may have the same signature and other
 * gaps. So the members exchange the bytes by signature, packed. Each unpacks
 * them by its own datatype before it calls the operation.
 */
#ifndef SW_MPI_BASE_LOOSE_H
#define SW_MPI_BASE_LOOSE_H

#include "datatype.h"

typedef struct {
    void *at;   /* of element 0 */
    void *room; /* to be freed */
} sw_loose_t;

/* From the first byte of `count` elements to behind the last, as seen from
 * element 0. */
void sw_loose_span(const sw_datatype_t *d, int64_t count, int64_t *low,
                   int64_t *high);

/* Room for n elements, where `packed` (NULL: nothing) goes. */
sw_loose_t sw_loose(const sw_datatype_t *type, size_t n, const void *packed);
/* Packs them to there (NULL: nowhere), and frees the room. */
void sw_loose_end(sw_loose_t *l, const sw_datatype_t *type, size_t n,
                  void *packed);

#endif
