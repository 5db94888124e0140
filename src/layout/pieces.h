/*
 * pieces.h - the contiguous pieces of a layout, in the order of its data: for
 * memory that only the system can reach.
 */
#ifndef SW_LAYOUT_PIECES_H
#define SW_LAYOUT_PIECES_H

#include "layout.h"
#include "node/os/os.h"

#define SW_PIECES 64

/* Takes the next n pieces, at most SW_PIECES. Not 0: the walk ends. */
typedef int sw_pieces_func_t(void *context, const sw_os_piece_t *piece, int n);

/* Hand over the pieces of the first `bytes` bytes of data of `count` elements
 * at address `base`. Returns what `take` returned last. */
SW_API int sw_layout_pieces(const sw_layout_t *l, uint64_t base, int64_t count,
                            uint64_t bytes, sw_pieces_func_t *take,
                            void *context);

#endif
