/*
 * move.h - a message's bytes on their way: through the caches or past them.
 */
#ifndef SW_P2P_MOVE_H
#define SW_P2P_MOVE_H

#include "layout/data.h"

/* Bytes from which messages are copied past the caches. */
SW_API size_t sw_move_streams_from(void);

/* Copy the bytes [begin, end) of a message that is `whole` bytes long. */
void sw_move(const sw_data_t *from, const sw_data_t *to, size_t begin,
             size_t end, size_t whole);

#endif
