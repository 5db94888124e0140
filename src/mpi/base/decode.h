/*
 * decode.h - from a datatype to its layout (layout/layout.h).
 *
 * By MPI_Type_get_envelope and MPI_Type_get_contents, through all levels. What
 * a constructor means is MPI 4.1, chapter 5; of every type the host's size and
 * true extent must agree with what was understood.
 */
#ifndef SW_MPI_BASE_DECODE_H
#define SW_MPI_BASE_DECODE_H

#include "host.h"
#include "layout/layout.h"

/* Where hosts may see more in a type than its layout, or less. */
typedef struct {
    /* MPI_PACKED is in it, which can be anything, or a type that hosts do not
     * copy bit by bit: of a long double's 16 bytes, ten */
    bool vague;
    bool odd; /* some hosts are known to misplace such types */
} sw_doubts_t;

/* The layout, to be freed by free(); NULL: not understood, no memory, or too
 * large. The type has been committed. */
sw_layout_t *sw_decode(MPI_Datatype type, sw_doubts_t *doubts);

/* Bytes of data in an element; 0 where the host cannot say. */
uint64_t sw_decode_bytes(MPI_Datatype type);

/* Is it a predefined type, named or not? No program frees those. */
bool sw_decode_predefined(MPI_Datatype type, bool *named);

/* The basic type that a type is made of; itself, if it is one.
 * MPI_DATATYPE_NULL: it has none, or several. */
MPI_Datatype sw_decode_only_basic(MPI_Datatype type);

#endif
