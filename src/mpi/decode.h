/*
 * decode.h - from a datatype to its layout (layout/layout.h).
 *
 * By MPI_Type_get_envelope and MPI_Type_get_contents, through all levels. What
 * a constructor means is MPI 4.1, chapter 5; of every type the host's size and
 * true extent must agree with what was understood.
 */
#ifndef SW_MPI_DECODE_H
#define SW_MPI_DECODE_H

#include "host.h"
#include "../layout/layout.h"

typedef struct {
    size_t grain;           /* bytes of every basic element; 0: they differ */
    bool vague;             /* MPI_PACKED is among them, which can be
                             * anything, or a type that hosts do not copy bit
                             * by bit: of a long double's 16 bytes, ten     */
} sw_signature_t;

/* The layout, to be freed by free(); NULL: not understood, no memory, or too
 * large. The type has been committed. */
sw_layout_t *sw_decode(MPI_Datatype type, sw_signature_t *signature);

/* Is it a predefined type, named or not? Nobody frees those. */
bool sw_predefined(MPI_Datatype type, bool *named);

#endif
